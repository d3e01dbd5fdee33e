//! Lines of limited length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineRead {
    /// A line without its end. The last one may have none.
    Whole(Vec<u8>),
    /// More bytes than are accepted.
    TooLong,
    /// The end of the input.
    End,
}

/// Reads up to the end of a line, at most `limit` bytes.
pub(crate) async fn read<R>(reader: &mut R, limit: u64) -> io::Result<LineRead>
where
    R: AsyncBufRead + Unpin,
{
    let mut line = Vec::new();
    reader.take(limit.saturating_add(1)).read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(LineRead::End);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
    Ok(if length > limit { LineRead::TooLong } else { LineRead::Whole(line) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_ends_at_its_end_at_the_limit_or_with_the_input() {
        let mut input: &[u8] = b"one\n\nthree";
        let mut next = async || read(&mut input, 5).await.unwrap();
        assert_eq!(next().await, LineRead::Whole(b"one".to_vec()));
        assert_eq!(next().await, LineRead::Whole(Vec::new()));
        assert_eq!(next().await, LineRead::Whole(b"three".to_vec()));
        assert_eq!(next().await, LineRead::End);
        assert_eq!(
            read(&mut &b"12345\n"[..], 5).await.unwrap(),
            LineRead::Whole(b"12345".to_vec())
        );
        assert_eq!(read(&mut &b"123456\n"[..], 5).await.unwrap(), LineRead::TooLong);
    }
}
