// Search and filter the memories of an exported page: every word has to occur.
const search = document.getElementById("q");
const project = document.getElementById("project");
const namespace = document.getElementById("namespace");
const count = document.getElementById("count");
const memories = [...document.querySelectorAll("article")].map((article) => ({ article, text: article.textContent.toLowerCase() }));

for (const select of [project, namespace]) {
  const values = new Set(memories.map(({ article }) => article.dataset[select.id]));
  for (const value of [...values].sort()) select.add(new Option(value || "global", `=${value}`));
}

function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { article, text } of memories) {
    const isIn = [project, namespace].every((one) => !one.value || one.value === `=${article.dataset[one.id]}`);
    article.hidden = !(isIn && words.every((word) => text.includes(word)));
    shown += !article.hidden;
  }
  count.textContent = `${shown} of ${memories.length} memories`;
}

for (const one of [search, project, namespace]) one.addEventListener("input", show);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === search) return;
  event.preventDefault();
  search.focus();
});
show();
