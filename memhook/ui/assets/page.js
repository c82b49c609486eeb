// What a page does beyond links and forms: live answers, sliders, keys. Everything works without it, by its buttons.

const WAIT = 120; // milliseconds without typing before a question is asked

// Forms with data-live="ID" put the answer of the server into the element ID as one types. With data-twice they ask again
// for what takes longer.
for (const form of document.querySelectorAll("form[data-live]")) live(form);

function live(form) {
  const target = document.getElementById(form.dataset.live);
  const isPost = form.method === "post";
  let timer, asking;

  async function put(part, signal) {
    const fields = new URLSearchParams(new FormData(form));
    const shown = new URLSearchParams([...fields].filter(([, value]) => value));
    const address = new URL(form.action);
    fields.set("part", part);
    if (!isPost) address.search = fields;
    const answer = await fetch(address, isPost ? { signal, method: "POST", body: fields } : { signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    target.replaceChildren(...(answer.ok ? page.body : page.querySelector("main") ?? page.body).childNodes);
    if (!isPost) history.replaceState(null, "", `${form.action}?${shown}`);
  }

  async function ask() {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    target.setAttribute("aria-busy", "true");
    target.classList.add("waiting");
    try {
      await put("1", signal);
      target.setAttribute("aria-busy", "false");
      target.classList.remove("waiting");
      if ("twice" in form.dataset) await put("2", signal);
    } catch (error) {
      if (error.name !== "AbortError") target.replaceChildren("The page is no longer served. Run: memhook ui");
    }
  }

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT);
  });
  form.addEventListener("submit", (event) => {
    if (event.submitter?.hasAttribute("formaction")) return;
    event.preventDefault();
    clearTimeout(timer);
    ask();
  });
  if ([...form.elements].some(isTouched)) ask(); // typed before this script ran, or filled in again by the browser
}

function isTouched(field) {
  if (field.options) {
    const given = [...field.options].findIndex((one) => one.defaultSelected);
    return field.selectedIndex !== Math.max(0, given);
  }
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  return !["hidden", "range"].includes(field.type) && field.defaultValue !== undefined && field.value !== field.defaultValue;
}

for (const button of document.querySelectorAll("[data-only-without-script]")) button.hidden = true;
if (matchMedia("(max-width: 700px)").matches) {
  for (const details of document.querySelectorAll("[data-closed-when-narrow]")) details.open = false;
}

// What takes long is loaded behind the page; a field that is folded away is not sent.
for (const place of document.querySelectorAll("[data-load]")) {
  fetch(place.dataset.load).then((answer) => answer.text()).then((text) => {
    place.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  });
}
for (const field of document.querySelectorAll("[data-enabled-when-open]")) {
  const details = field.closest("details");
  details.addEventListener("toggle", () => {
    field.disabled = !details.open;
    if (details.open) field.focus();
  });
}

// A slider and the number beside it are one value.
for (const slider of document.querySelectorAll("input[type=range][data-for]")) {
  const number = document.getElementById(slider.dataset.for);
  slider.addEventListener("input", () => { number.value = slider.value; });
  number.addEventListener("input", () => { slider.value = number.value; });
}

// Settings that were tried: kept, or back to what is saved.
const keep = document.querySelector("[data-keep]");
const reset = document.querySelector("[data-reset]");
if (keep && reset) {
  const tried = [...keep.form.querySelectorAll("[data-saved]")];
  const isSaved = (one) => one.type === "radio" ? one.checked === (one.value === one.dataset.saved) : one.value === one.dataset.saved;
  const look = () => { keep.hidden = reset.hidden = tried.every(isSaved); };
  keep.form.addEventListener("input", look);
  reset.addEventListener("click", () => {
    for (const one of tried) {
      if (one.type === "radio") one.checked = one.value === one.dataset.saved;
      else one.value = one.dataset.saved;
      one.dispatchEvent(new Event("input", { bubbles: true }));
    }
  });
  look();
}

// Rows to choose from: all at once by one box, one after the other by keys.
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-all]")) return;
  for (const box of event.target.form.querySelectorAll("[name=chosen]")) box.checked = event.target.checked;
});
for (const field of document.querySelectorAll("[data-back]")) {
  field.value = (location.pathname + location.search).replace(/^\/[^/]+/, "");
}

// After a change the address names the row: the browser focuses it, before or after this script runs.
const intoRow = (target) => { if (target.matches("[data-row]")) target.querySelector("a").focus(); };
document.addEventListener("focusin", (event) => intoRow(event.target));
intoRow(document.activeElement);

const rows = () => [...document.querySelectorAll("[data-row]")];
const current = () => document.activeElement.closest("[data-row]");
const steps = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

function inRows(key) {
  if (key in steps && rows().length) {
    const at = rows().indexOf(current()) + steps[key];
    rows()[Math.max(0, Math.min(at, rows().length - 1))].querySelector("a").focus();
    return true;
  }
  if (key !== "x" || !current()) return false;
  const box = current().querySelector("[name=chosen]");
  box.checked = !box.checked;
  return true;
}

// A key for the chosen ones means the current row when none is chosen.
function chosenOrCurrent(button) {
  const box = current()?.querySelector("[name=chosen]");
  if (box && box.form === button.form && !button.form.querySelector("[name=chosen]:checked")) box.checked = true;
}

// A form is sent once: what is pressed until the next page is there is not meant for this one.
let isSent = false;
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  if (isSent) event.preventDefault();
  isSent = true;
});
addEventListener("pageshow", () => { isSent = false; });

// Keys: data-key="x" is pressed by x, data-focus="/" is focused by /, g and a letter go to a page.
let before = "";
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=range])");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && isTyping) event.target.blur();
  const leavesSearch = event.key === "ArrowDown" && event.target.matches("[type=search]");
  if (isTyping && !leavesSearch) return;
  if (before !== "g" && inRows(event.key)) {
    event.preventDefault();
    return;
  }
  if (event.repeat) return; // a key that is held would go on on the next page
  const name = CSS.escape(event.key);
  const wanted = before === "g" ? `[data-go="${name}"]` : `[data-key~="${name}"], [data-focus="${name}"]`;
  before = event.key === "g" ? "g" : "";
  const found = [...document.querySelectorAll(wanted)].find((one) => one.checkVisibility());
  if (!found) return;
  event.preventDefault();
  if (found.name === "do") chosenOrCurrent(found);
  if (found.dataset.focus) found.focus();
  else found.click();
});

document.documentElement.dataset.ready = "";
