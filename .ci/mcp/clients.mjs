// Uses `tessera mcp` through the TypeScript SDK, in the current version of the protocol and with the older `initialize`.
// Arguments: the program, then the modes of the SDK's version negotiation.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [program, ...modes] = process.argv.slice(2);
for (const mode of modes) {
  const client = new Client({ name: "sdk-test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport({ command: program, args: ["mcp"], env: process.env }));
  const called = async (name, given) => {
    const reply = await client.callTool({ name, arguments: given });
    return { text: reply.content[0].text, failed: reply.isError === true };
  };
  const tools = (await client.listTools()).tools;
  assert(tools.length >= 7 && tools.length <= 10 && tools.every((tool) => tool.title && tool.description), `${tools.length} tools`);
  const stored = await called("memory_store", { content: `The ${mode} exporter listens on port 9417` });
  const id = stored.text.match(/#(\d+)/)[1];
  assert.match((await called("memory_recall", { query: "exporter port" })).text, /9417/);
  assert.match((await called("memory_get", { ids: [id, "4711"] })).text, /No memory: #4711/);
  assert.match((await called("memory_forget", { ids: [id] })).text, /#/);
  assert.match((await called("memory_restore", { ids: [id] })).text, /Restored/);
  assert((await called("memory_get", { ids: ["4711"] })).failed);
  assert.match((await client.readResource({ uri: "memory://recent" })).contents[0].text, /exporter/);
  assert.match((await client.readResource({ uri: `memory://${id}` })).contents[0].text, /9417/);
  await assert.rejects(client.readResource({ uri: "memory://4711" }), (error) => error.code === -32602);
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
  const prompts = (await client.listPrompts()).prompts;
  assert.deepEqual(prompts.map((prompt) => prompt.name), ["remember", "recall", "memory_guide"]);
  const prompt = await client.getPrompt({ name: "recall", arguments: { topic: "exporter port" } });
  assert.match(prompt.messages[0].content.text, /9417/);
  console.log(`TypeScript SDK: protocol ${client.getNegotiatedProtocolVersion()}`);
  await client.close();
}
