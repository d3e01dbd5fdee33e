//! A forge with one pull request, as far as `reckon-ci` uses it: a small HTTP server in a thread.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// The author of the comments that the pipeline writes.
const BOT: &str = "github-actions[bot]";

/// A running forge. Its thread ends with the test.
pub(crate) struct Forge {
    pub(crate) address: SocketAddr,
    comments: Arc<Mutex<Vec<Value>>>,
}

impl Forge {
    /// Starts a forge whose pull request has a comment of a person with this text.
    pub(crate) fn start(text: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let first = json!({"id": 1, "body": text, "user": {"login": "anna"}});
        let comments = Arc::new(Mutex::new(vec![first]));
        let shared = comments.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &mut shared.lock().unwrap());
            }
        });
        Self { address, comments }
    }

    /// Returns the author and the text of each comment.
    pub(crate) fn comments(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let comments = self.comments.lock().unwrap();
        comments.iter().map(|one| (text(&one["user"]["login"]), text(&one["body"]))).collect()
    }
}

/// Answers one request and closes the connection.
fn answer(stream: TcpStream, comments: &mut Vec<Value>) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0_usize);
    while reader.read_line(&mut head).unwrap() > 2 {
        let line = head.lines().last().unwrap().to_lowercase();
        if let Some(number) = line.strip_prefix("content-length: ") {
            length = number.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, reply) = if head.to_lowercase().contains("authorization: bearer forge-token\r\n") {
        reply(head.lines().next().unwrap(), &body["body"], comments)
    } else {
        (401, Value::Null)
    };
    let reply = reply.to_string();
    let length = reply.len();
    let text = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{reply}"
    );
    reader.get_mut().write_all(text.as_bytes()).unwrap();
}

fn reply(request: &str, text: &Value, comments: &mut Vec<Value>) -> (u16, Value) {
    let words: Vec<&str> = request.split(' ').collect();
    match (words[0], words[1]) {
        ("GET", "/repos/acme/billing/issues/7/comments?per_page=100&page=1") => {
            (200, json!(comments))
        }
        ("POST", "/repos/acme/billing/issues/7/comments") => {
            let id = comments.len().saturating_add(1);
            comments.push(json!({"id": id, "body": text, "user": {"login": BOT}}));
            (201, json!({"id": id}))
        }
        ("PATCH", path) => {
            let id = path.strip_prefix("/repos/acme/billing/issues/comments/").unwrap();
            let one =
                comments.iter_mut().find(|one| one["id"].as_u64() == id.parse().ok()).unwrap();
            one["body"] = text.clone();
            (200, json!({"id": one["id"]}))
        }
        _ => (404, Value::Null),
    }
}
