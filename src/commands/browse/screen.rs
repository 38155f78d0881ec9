//! The screen of the picker. It is drawn on stderr, so that stdout contains only the chosen text.

use std::io::{Stderr, stderr};
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, KeyEvent, KeyEventKind, poll, read,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{List, ListItem, ListState, Paragraph, Wrap};
use tessera_engine::domain::Memory;

use super::picker::{Mode, Picker};
use crate::output::{Undisturbed, age, is_closed, local, shown};

/// How often signals are noticed.
const PATIENCE: Duration = Duration::from_millis(200);

/// From this width, the chosen memory is shown beside the list.
const WIDE: u16 = 100;

/// The terminal in its special mode. When it is dropped, the terminal is as before.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stderr>>,
    signals: Undisturbed,
}

/// What the user did.
pub(super) enum Input {
    /// Pressed a key.
    Key(KeyEvent),
    /// Pasted a text.
    Paste(String),
    /// Changed the size of the window.
    Resize,
    /// Ended the program with a signal.
    End,
}

impl Screen {
    pub(super) fn begin() -> anyhow::Result<Self> {
        let terminal = Terminal::new(CrosstermBackend::new(stderr()))?;
        let screen = Self { terminal, signals: Undisturbed::begin() };
        enter()?;
        Ok(screen)
    }

    /// Runs a program that uses the terminal itself.
    pub(super) fn outside<T>(&mut self, work: impl FnOnce() -> T) -> anyhow::Result<T> {
        leave();
        let done = work();
        enter()?;
        // A new terminal draws every cell again.
        self.terminal = Terminal::new(CrosstermBackend::new(stderr()))?;
        Ok(done)
    }

    /// Waits for the user.
    pub(super) fn input(&self) -> anyhow::Result<Input> {
        loop {
            // crossterm reads a closed terminal for ever.
            if self.signals.is_asked_to_end() || is_closed() {
                return Ok(Input::End);
            }
            if !poll(PATIENCE)? {
                continue;
            }
            match read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => return Ok(Input::Key(key)),
                Event::Paste(text) => return Ok(Input::Paste(text)),
                Event::Resize(..) => return Ok(Input::Resize),
                _ => {}
            }
        }
    }

    pub(super) fn draw(&mut self, picker: &Picker) -> anyhow::Result<()> {
        self.terminal.draw(|frame| {
            let [top, middle, bottom] =
                Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
                    .areas(frame.area());
            frame.render_widget(Line::from(vec!["> ".into(), shown(&picker.question).into()]), top);
            if picker.mode == Mode::List {
                let column = u16::try_from(2 + crate::output::width(&picker.question)).unwrap_or(u16::MAX);
                frame.set_cursor_position((column.min(top.width.saturating_sub(1)), top.y));
            }
            match (picker.mode, picker.chosen()) {
                (Mode::Shown, Some(memory)) => frame.render_widget(whole(picker, memory), middle),
                (_, chosen) => {
                    let (left, right) = halves(middle);
                    let mut state = ListState::default().with_selected(Some(picker.at));
                    frame.render_stateful_widget(list(picker, left.width), left, &mut state);
                    if let (Some(area), Some(memory)) = (right, chosen) {
                        frame.render_widget(whole(picker, memory), area);
                    }
                }
            }
            frame.render_widget(Line::from(help(picker)).style(Modifier::DIM), bottom);
        })?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn enter() -> anyhow::Result<()> {
    enable_raw_mode()?;
    execute!(stderr(), EnterAlternateScreen, EnableBracketedPaste)?;
    Ok(())
}

fn leave() {
    // The program ends or starts another one, so nothing else can be done about a failure.
    let _ = execute!(stderr(), DisableBracketedPaste, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

fn halves(area: Rect) -> (Rect, Option<Rect>) {
    if area.width < WIDE {
        return (area, None);
    }
    let [left, right] = Layout::horizontal([Constraint::Percentage(50), Constraint::Fill(1)]).spacing(2).areas(area);
    (left, Some(right))
}

fn list(picker: &Picker, width: u16) -> List<'_> {
    let row = |memory: &Memory| {
        let mark = if picker.newer.contains_key(&memory.short_id) { "(older) " } else { "" };
        let text = format!("{:<6}{mark}{}", memory.short_id.to_string(), shown(&memory.summary));
        let age = age(memory.created, picker.now);
        let room = usize::from(width).saturating_sub(age.len() + 2);
        let (text, used) = cut(&text, room);
        let gap = " ".repeat(usize::from(width).saturating_sub(used + age.len()));
        ListItem::new(Line::from(vec![Span::raw(text + &gap), Span::styled(age, Modifier::DIM)]))
    };
    List::new(picker.found.iter().map(row)).highlight_style(Style::new().add_modifier(Modifier::REVERSED))
}

/// The beginning of a text that fits into a width, and its width.
fn cut(text: &str, room: usize) -> (String, usize) {
    let text = text.replace(['\n', '\t'], " ");
    let (mut kept, mut used) = (String::new(), 0);
    for c in text.chars() {
        let wide = crate::output::width(c.encode_utf8(&mut [0; 4]));
        if used + wide > room {
            break;
        }
        kept.push(c);
        used += wide;
    }
    (kept, used)
}

fn whole<'a>(picker: &Picker, memory: &'a Memory) -> Paragraph<'a> {
    let status = picker.newer.get(&memory.short_id).map(ToString::to_string);
    let tags: Vec<String> = memory.tags.iter().map(|tag| format!("#{tag}")).collect();
    let facts = [
        Some(memory.short_id.to_string()),
        Some(format!("{} ({})", age(memory.created, picker.now), local(memory.created))),
        Some(shown(memory.scope.as_str())),
        Some(shown(memory.category.as_str())),
        Some(shown(&tags.join(" "))).filter(|tags| !tags.is_empty()),
        status,
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let mut text = Text::from(Line::styled(facts.join(" · "), Modifier::DIM));
    text.push_line("");
    shown(&memory.content).replace('\t', "    ").lines().for_each(|line| text.push_line(line.to_owned()));
    Paragraph::new(text).wrap(Wrap { trim: false })
}

fn help(picker: &Picker) -> String {
    let keys = match picker.mode {
        Mode::Delete => {
            let chosen = picker.chosen();
            let named = chosen.map(|memory| format!("{} ({})", memory.short_id, shown(&memory.summary)));
            return format!("Delete? y deletes, any other key keeps: {}", named.unwrap_or_default());
        }
        Mode::List if picker.prints => "Enter prints the text, Esc leaves",
        Mode::List => "Enter shows, Ctrl-E edits, Ctrl-D deletes, Ctrl-Z undoes, Ctrl-U clears, Esc leaves",
        Mode::Shown => "e edits, d deletes, u undoes, Enter goes back",
    };
    let count = picker.found.len();
    let told = if picker.told.is_empty() { String::new() } else { format!("{}  |  ", shown(&picker.told)) };
    format!("{told}{count} found  |  {keys}")
}
