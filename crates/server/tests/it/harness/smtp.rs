//! A fake SMTP server: accepts email, refuses it, or never answers.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Takes,
    /// Answers 550 to every recipient.
    Refuses,
    /// Answers 451 to every recipient.
    IsBusy,
    /// Accepts the connection and never answers.
    Stalls,
}

/// An event that the server saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    Connected,
    Letter { to: String, text: String },
    Refused { to: String },
    Closed,
}

#[derive(Debug)]
pub(crate) struct MailServer {
    port: u16,
    seen: tokio::sync::Mutex<UnboundedReceiver<Seen>>,
    mood: Arc<Mutex<Mood>>,
    tasks: JoinSet<()>,
}

impl MailServer {
    pub(crate) async fn start(mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, seen) = unbounded_channel();
        let mood = Arc::new(Mutex::new(mood));
        let mut tasks = JoinSet::new();
        let shared = Arc::clone(&mood);
        tasks.spawn(async move {
            let mut open = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let mood = *shared.lock().unwrap();
                open.spawn(talk(stream, mood, sender.clone()));
            }
        });
        Self { port, seen: seen.into(), mood, tasks }
    }

    pub(crate) fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    pub(crate) fn becomes(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// The next event except connections opened and closed.
    pub(crate) async fn next(&self) -> Seen {
        loop {
            match self.next_of_all().await {
                Seen::Connected | Seen::Closed => {}
                other => return other,
            }
        }
    }

    /// The next event.
    pub(crate) async fn next_of_all(&self) -> Seen {
        self.seen.lock().await.recv().await.unwrap()
    }

    /// An event that was not read yet.
    pub(crate) fn unread(&mut self) -> Option<Seen> {
        self.seen.get_mut().try_recv().ok()
    }

    /// The recipient and the code of the next email.
    pub(crate) async fn next_code(&self) -> (String, String) {
        let Seen::Letter { to, text } = self.next().await else { panic!("a letter") };
        (to, code_in(&text))
    }

    /// Closes every connection.
    pub(crate) async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

/// The code in an email.
pub(crate) fn code_in(letter: &str) -> String {
    let line = letter.lines().find_map(|line| line.strip_prefix("Your code is ")).unwrap();
    line.chars().filter(char::is_ascii_digit).collect()
}

async fn talk(stream: TcpStream, mood: Mood, seen: UnboundedSender<Seen>) {
    seen.send(Seen::Connected).unwrap();
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    if mood != Mood::Stalls {
        writer.write_all(b"220 test\r\n").await.unwrap();
    }
    let (mut to, mut text, mut in_text) = (String::new(), String::new(), false);
    while let Ok(Some(line)) = lines.next_line().await {
        if in_text {
            if line == "." {
                in_text = false;
                seen.send(Seen::Letter { to: to.clone(), text: text.clone() }).unwrap();
                writer.write_all(b"250 taken\r\n").await.unwrap();
            } else {
                text.push_str(&line);
                text.push('\n');
            }
            continue;
        }
        let verb = line.get(..4).unwrap_or_default().to_ascii_uppercase();
        let answer = match verb.as_str() {
            "RCPT" => {
                to = line.split(['<', '>']).nth(1).unwrap().to_owned();
                if mood != Mood::Takes {
                    seen.send(Seen::Refused { to: to.clone() }).unwrap();
                }
                match mood {
                    Mood::Refuses => "550 nobody here\r\n",
                    Mood::IsBusy => "451 not now\r\n",
                    Mood::Takes | Mood::Stalls => "250 fine\r\n",
                }
            }
            "DATA" => {
                in_text = true;
                "354 go on\r\n"
            }
            _ => "250 fine\r\n",
        };
        if writer.write_all(answer.as_bytes()).await.is_err() || verb == "QUIT" {
            break;
        }
    }
    // The test may be over.
    let _ = seen.send(Seen::Closed);
}
