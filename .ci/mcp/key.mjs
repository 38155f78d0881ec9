// Loaded before the conformance suite, which has no option for a key: every request that the suite sends carries MCP_KEY. The suite
// sends most requests with undici, and those of one scenario with node:http.
import http from "node:http";
import { createRequire } from "node:module";

const undici = createRequire(process.argv[1])("undici");
const key = ["authorization", `Bearer ${process.env.MCP_KEY}`];

function withKey(headers) {
  if (Array.isArray(headers)) {
    return [...headers, ...key];
  }
  const pairs = typeof headers?.[Symbol.iterator] === "function" ? Object.fromEntries(headers) : headers;
  return { ...pairs, [key[0]]: key[1] };
}

const agent = new undici.Agent();
undici.setGlobalDispatcher(
  agent.compose((dispatch) => (options, handler) => dispatch({ ...options, headers: withKey(options.headers) }, handler)),
);
const plain = http.request;
http.request = (options, ...others) => plain({ ...options, headers: withKey(options.headers) }, ...others);
