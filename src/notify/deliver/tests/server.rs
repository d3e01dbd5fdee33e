//! Servers for one connection, in a thread of their own: one for the web, and one for mail.

use std::io;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{JoinHandle, spawn};

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tokio::sync::oneshot;

/// A server's next step.
#[derive(Clone, Copy)]
pub(super) enum Reply {
    Say(&'static str),
    /// Sends no answer and waits until the client gives up.
    Hold,
    HangUp,
}

/// A server and the lines that it received.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    thread: JoinHandle<Vec<String>>,
    holds: Option<oneshot::Receiver<()>>,
}

impl Server {
    /// Returns everything that the server received, when its connection has ended.
    pub(super) fn heard(self) -> Vec<String> {
        self.thread.join().unwrap()
    }

    /// Waits until the server holds an answer back.
    pub(super) async fn holds(&mut self) {
        self.holds.take().unwrap().await.unwrap();
    }

    fn start(talk: impl FnOnce(TcpStream, &mut Talk) -> io::Result<()> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, (tell, holds)) = (listener.local_addr().unwrap(), oneshot::channel());
        let thread = spawn(move || {
            let mut told = Talk { heard: Vec::new(), holds: Some(tell) };
            let (stream, _) = listener.accept().unwrap();
            // A client that disconnects is no failure of the server.
            talk(stream, &mut told).ok();
            told.heard
        });
        Self { address, thread, holds: Some(holds) }
    }
}

/// A server's record of a conversation.
struct Talk {
    heard: Vec<String>,
    holds: Option<oneshot::Sender<()>>,
}

impl Talk {
    /// Sends a reply; `false`: the conversation is over.
    fn reply(&mut self, stream: &mut impl Write, reply: Reply) -> io::Result<bool> {
        match reply {
            Reply::Say(text) => {
                stream.write_all(format!("{text}\r\n").as_bytes())?;
                stream.flush()?;
            }
            Reply::Hold => self.holds.take().unwrap().send(()).unwrap(),
            Reply::HangUp => return Ok(false),
        }
        Ok(true)
    }
}

/// Reads a line without its end.
fn line(stream: &mut impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        bytes.extend(byte);
    }
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches("\r\n").to_owned())
}

/// A web server that reads one request, records its head and its body, and answers.
pub(super) fn web(reply: Reply) -> Server {
    Server::start(move |mut stream, talk| {
        let mut head = Vec::new();
        loop {
            match line(&mut stream)?.as_str() {
                "" => break,
                field => head.push(field.to_lowercase()),
            }
        }
        let length = head.iter().find_map(|field| field.strip_prefix("content-length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        stream.read_exact(&mut body)?;
        talk.heard = head;
        talk.heard.push(String::from_utf8(body).unwrap());
        if talk.reply(&mut stream, reply)? && matches!(reply, Reply::Hold) {
            stream.read_exact(&mut [0])?;
        }
        Ok(())
    })
}

/// A mail server's reply to a line; the empty line is its greeting, `.` the end of a mail.
pub(super) type Script = fn(&str) -> Reply;

/// A mail server that accepts everything.
pub(super) fn willing(line: &str) -> Reply {
    match line.split(' ').next().unwrap() {
        "" => Reply::Say("220 smtp.example"),
        "EHLO" => Reply::Say("250-smtp.example\r\n250-STARTTLS\r\n250 AUTH PLAIN LOGIN"),
        "STARTTLS" => Reply::Say("220 go ahead"),
        "AUTH" => Reply::Say("235 2.7.0 welcome"),
        "DATA" => Reply::Say("354 go on"),
        "QUIT" => Reply::Say("221 bye"),
        _ => Reply::Say("250 2.0.0 fine"),
    }
}

/// A mail server that follows a script. `tls` is its encryption after `STARTTLS`.
pub(super) fn mail(script: Script, tls: Option<Arc<ServerConfig>>) -> Server {
    Server::start(move |mut stream, talk| {
        let go_on = talk.reply(&mut stream, script(""))?;
        if !go_on || !commands(&mut stream, script, talk)? {
            return Ok(());
        }
        let Some(config) = tls else { return Ok(()) };
        let connection = ServerConnection::new(config).map_err(io::Error::other)?;
        commands(&mut StreamOwned::new(connection, stream), script, talk).map(|_| ())
    })
}

/// Answers commands; `true`: the client goes on encrypted.
fn commands(stream: &mut (impl Read + Write), script: Script, talk: &mut Talk) -> io::Result<bool> {
    loop {
        let said = line(stream)?;
        let reply = script(&said);
        talk.heard.push(said.clone());
        if !talk.reply(stream, reply)? {
            return Ok(false);
        }
        if let Reply::Say(text) = reply {
            if said == "STARTTLS" && text.starts_with("220") {
                return Ok(true);
            }
            if text.starts_with("354") && !whole_mail(stream, script, talk)? {
                return Ok(false);
            }
        }
    }
}

/// Reads a mail and answers it.
fn whole_mail(
    stream: &mut (impl Read + Write),
    script: Script,
    talk: &mut Talk,
) -> io::Result<bool> {
    let mut lines = Vec::new();
    loop {
        match line(stream)?.as_str() {
            "." => break,
            text => lines.push(text.to_owned()),
        }
    }
    talk.heard.push(lines.join("\n"));
    talk.reply(stream, script("."))
}
