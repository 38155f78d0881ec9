//! A bare MCP client over stdio: JSON lines, nothing of the server's own crates.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};

use serde_json::{Value, json};

use super::World;

/// A running `tessera mcp` and its pipes.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    /// Starts a server and shakes hands as clients up to 2025-11-25 do.
    pub(crate) fn start(world: &World) -> Self {
        Self::start_with(world, &[])
    }

    /// The same with more in the server's environment.
    pub(crate) fn start_with(world: &World, variables: &[(&str, &str)]) -> Self {
        let mut client = Self::spawn(world, variables);
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        client.request("initialize", hello);
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// Starts a server without a handshake.
    pub(crate) fn start_silent(world: &World) -> Self {
        Self::spawn(world, &[])
    }

    fn spawn(world: &World, variables: &[(&str, &str)]) -> Self {
        let mut command = world.command(World::binary());
        command.envs(variables.iter().copied());
        let mut child =
            command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout, next: 0 }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    /// The next message; every line on stdout must be one.
    pub(crate) fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.stdout.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        Some(message)
    }

    /// Asks, and waits for the reply with the same id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive().expect("the server is there");
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Calls a tool; gives its text, and whether it was refused.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let reply = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &reply["result"];
        assert!(result["structuredContent"].is_null(), "text alone: {reply}");
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"));
        (text.to_owned(), result["isError"].as_bool().unwrap_or(false))
    }

    /// Calls a tool that must not be refused.
    pub(crate) fn ok(&mut self, tool: &str, arguments: Value) -> String {
        let (text, refused) = self.call(tool, arguments);
        assert!(!refused, "{tool}: {text}");
        text
    }

    /// Closes stdin and waits for the end.
    pub(crate) fn close(mut self) -> ExitStatus {
        drop(self.stdin.take());
        self.child.wait().unwrap()
    }

    /// Sends a signal and waits for the end.
    pub(crate) fn signal(mut self, signal: &str) -> ExitStatus {
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        self.child.wait().unwrap()
    }
}
