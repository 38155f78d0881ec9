//! The agent's task list.

use serde_json::Value;

use super::quote::quoted;

/// The tasks that are not completed. Clients write the whole list (`TodoWrite`), or one task at a time (`TaskCreate`,
/// `TaskUpdate`).
#[derive(Debug, Clone, Default)]
pub(super) struct Tasks(Vec<Task>);

#[derive(Debug, Clone)]
struct Task {
    /// The ID in `TaskUpdate`; empty for a task of `TodoWrite`.
    id: String,
    text: String,
    is_done: bool,
}

impl Tasks {
    /// Reads a call of a tool, and its output.
    pub(super) fn read(&mut self, tool: &str, input: &Value, output: &str) {
        match tool {
            "TodoWrite" => {
                let list = input.get("todos").and_then(Value::as_array).into_iter().flatten();
                self.0 = list.filter_map(|task| Some(Task::new(String::new(), text(task, "content")?, task))).collect();
            }
            "TaskCreate" => {
                let id = output.split('#').nth(1).unwrap_or_default();
                let id: String = id.chars().take_while(char::is_ascii_digit).collect();
                self.0.extend(text(input, "subject").map(|subject| Task::new(id, subject, input)));
            }
            "TaskUpdate" => {
                let id = text(input, "taskId").unwrap_or_default();
                let Some(task) = self.0.iter_mut().find(|task| !task.id.is_empty() && task.id == id) else { return };
                if input.get("status").is_some() {
                    task.is_done = is_done(input);
                }
                if let Some(subject) = text(input, "subject") {
                    subject.clone_into(&mut task.text);
                }
            }
            _ => {}
        }
    }

    /// The tasks that are not completed, in the order of the list.
    pub(super) fn open(&self) -> Vec<String> {
        self.0.iter().filter(|task| !task.is_done).filter_map(|task| quoted(&task.text)).collect()
    }
}

impl Task {
    fn new(id: String, text: &str, fields: &Value) -> Self {
        Self { id, text: text.to_owned(), is_done: is_done(fields) }
    }
}

fn is_done(task: &Value) -> bool {
    matches!(text(task, "status"), Some("completed" | "deleted" | "cancelled"))
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}
