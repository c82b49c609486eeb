// Written by `memhook install`, removed by `memhook uninstall`.
// Sends the start of a session, each prompt, what tools did and the end of each exchange to memhook, and its memories
// to the model.
import { spawn } from "node:child_process"

const LAUNCH = "@LAUNCH@"
const SECONDS = 10
const TOOLS = new Set(["apply_patch", "bash", "edit", "multiedit", "patch", "write"])
const SAVING = "memhook_remember" // in which session, the MCP server is not told
const NOTHING = { context: "", notice: "" }

function asked(payload) {
  return new Promise((resolve) => {
    const chunks = []
    const child = spawn(LAUNCH, [payload.hook_event_name, "1", "--client", "opencode"], {
      stdio: ["pipe", "pipe", "ignore"],
    })
    const timer = setTimeout(() => child.kill(), SECONDS * 1000)
    child.on("error", () => resolve(NOTHING))
    child.on("close", () => {
      clearTimeout(timer)
      try {
        const { hookSpecificOutput, systemMessage } = JSON.parse(Buffer.concat(chunks).toString("utf8"))
        resolve({ context: hookSpecificOutput?.additionalContext ?? "", notice: systemMessage ?? "" })
      } catch {
        resolve(NOTHING) // nothing to say
      }
    })
    child.stdout.on("data", (chunk) => chunks.push(chunk))
    child.stdin.on("error", () => {}) // it may end before it has read everything
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Memhook = async ({ client, directory }) => {
  const compacted = new Set()
  const begun = new Set()

  async function source(session) {
    if (compacted.delete(session)) return "compact"
    if (begun.has(session)) return ""
    begun.add(session)
    const { data } = await client.session.messages({ path: { id: session } })
    return (data ?? []).some(({ info }) => info.role === "assistant") ? "" : "startup"
  }

  // For the user, not for the model; without a screen nobody waits for it.
  function tell(notice) {
    if (notice) client.tui?.showToast({ body: { message: notice, variant: "info" } })?.catch(() => {})
  }

  // A tool cannot be told anything before it runs; what it returns can be added to.
  async function afterTool({ tool, sessionID, callID, args }, output) {
    if (!TOOLS.has(tool)) return
    const failed = Boolean(output.metadata?.exit)
    const { context } = await asked({
      hook_event_name: failed ? "PostToolUseFailure" : "PostToolUse",
      session_id: sessionID,
      cwd: directory,
      tool_use_id: callID,
      tool_name: tool,
      tool_input: args ?? {},
      tool_response: failed ? output.output : "",
    })
    if (context) output.output += `\n\n${context}`
  }

  // What the assistant said last, in a session of its own: those of subagents have a parent.
  async function ended(session) {
    const { data } = await client.session.get({ path: { id: session } })
    if (!data || data.parentID) return
    const { data: messages } = await client.session.messages({ path: { id: session } })
    const last = (messages ?? []).findLast(({ info }) => info.role === "assistant")
    const said = (last?.parts ?? []).filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
    await asked({ hook_event_name: "Stop", session_id: session, cwd: directory, last_assistant_message: said.join("\n") })
  }

  return {
    "tool.execute.before": async ({ tool, sessionID }, { args }) => {
      const common = { session_id: sessionID, cwd: directory, tool_name: tool, tool_input: args }
      if (tool.endsWith(SAVING)) await asked({ ...common, hook_event_name: "PreToolUse" })
    },
    "tool.execute.after": async (input, output) => {
      try {
        await afterTool(input, output)
      } catch {
        // a broken memhook must not break a tool
      }
    },
    event: async ({ event }) => {
      if (event.type === "session.compacted") compacted.add(event.properties.sessionID)
      if (event.type === "session.idle") await ended(event.properties.sessionID).catch(() => {})
    },
    "chat.message": async (input, output) => {
      try {
        const session = input.sessionID
        const common = { session_id: session, cwd: directory, prompt_id: output.message.id }
        const began = await source(session)
        const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
        const answers = [
          began ? await asked({ ...common, hook_event_name: "SessionStart", source: began }) : NOTHING,
          await asked({ ...common, hook_event_name: "UserPromptSubmit", prompt: prompt.join("\n") }),
        ]
        answers.forEach(({ notice }) => tell(notice))
        const last = output.parts.at(-1)?.id ?? "prt_"
        answers.map(({ context }) => context).filter(Boolean).forEach((text, number) =>
          output.parts.push({
            id: `${last}memhook${number}`,
            sessionID: session,
            messageID: output.message.id,
            type: "text",
            text,
            synthetic: true,
          }),
        )
      } catch {
        // a broken memhook must not break a prompt
      }
    },
  }
}
