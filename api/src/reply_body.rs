//! The body of an answer. The body keeps the permits of its request and connection until it is sent completely or
//! dropped, so unread responses count toward the limits. The body is sent in small pieces.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};

/// Bytes of a piece.
const PIECE: usize = 32 * 1024;

/// A body with resources that it holds until it ends.
pub(crate) struct ReplyBody<P> {
    body: Body,
    rest: Bytes,
    _place: P,
}

impl<P> ReplyBody<P> {
    pub(crate) fn new(body: Body, place: P) -> Self {
        Self { body, rest: Bytes::new(), _place: place }
    }

    fn piece(&mut self) -> Frame<Bytes> {
        Frame::data(self.rest.split_to(self.rest.len().min(PIECE)))
    }
}

impl<P: Send + Unpin + 'static> From<ReplyBody<P>> for Body {
    fn from(body: ReplyBody<P>) -> Self {
        Self::new(body)
    }
}

impl<P: Unpin> HttpBody for ReplyBody<P> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                other => return other,
            }
        }
        Poll::Ready(Some(Ok(self.piece())))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}
