//! What a plan's connections write, and when.

use super::{BulkSource, FrameSource, Paced, Periods, RecordedSource, Requester, Responder, Source};
use crate::plan::{self, Application, ConnectionPlan, ConstantRate, DataDirection, OnOff, Plan, RateChange};
use ropewalk_sim::{Stream, Streams};
use ropewalk_units::{Duration, Instant};

/// A connection's own random stream for one of its parts.
fn stream(streams: &Streams, connection: &ConnectionPlan, part: &str) -> Stream {
    streams.stream(&format!("connection/{}/{part}", connection.name))
}

/// The end of an application that lasts `duration`, or until the end of the run.
fn stop_at(plan: &Plan, connection: &ConnectionPlan, duration: Option<Duration>) -> Instant {
    let end = Instant::ZERO + plan.settings.duration;
    duration.map_or(end, |duration| connection.start.saturating_add(duration))
}

/// The message source of a constant-rate or on-off application.
pub fn paced(plan: &Plan, connection: &ConnectionPlan, streams: &Streams) -> Option<Paced> {
    let (rate, packet, duration, periods) = match &connection.application {
        Application::ConstantRate(ConstantRate { rate, packet_size, duration, .. }) => {
            (rate, packet_size, duration, None)
        }
        Application::OnOff(OnOff { rate, packet_size, on, off, duration }) => {
            let periods = Periods { on: *on, off: *off, stream: stream(streams, connection, "periods") };
            (rate, packet_size, duration, Some(periods))
        }
        _ => return None,
    };
    let stop = stop_at(plan, connection, *duration);
    let paced = Paced::new(connection.start, stop, *packet, rate.transmission_time(*packet), periods);
    Some(match &connection.application {
        Application::ConstantRate(ConstantRate { changes, .. }) => {
            let interval = |&RateChange { at, rate }: &RateChange| (at, rate.transmission_time(*packet));
            paced.with_changes(changes.iter().map(interval).collect())
        }
        _ => paced,
    })
}

/// The source of an application of frames.
pub fn frames(plan: &Plan, connection: &ConnectionPlan) -> Option<FrameSource> {
    let Application::Frames(frames) = &connection.application else { return None };
    Some(FrameSource::new(frames, connection.start, stop_at(plan, connection, frames.duration)))
}

/// The source of an application of recorded datagrams.
pub fn recorded(plan: &Plan, connection: &ConnectionPlan) -> Option<RecordedSource> {
    let Application::Recorded(recorded) = &connection.application else { return None };
    Some(RecordedSource::new(recorded, connection.start, stop_at(plan, connection, None)))
}

/// What the client's and the server's side of a stream connection write.
pub fn sources(plan: &Plan, connection: &ConnectionPlan, streams: &Streams) -> [Source; 2] {
    let writing = match &connection.application {
        Application::RequestResponse(own) => {
            let asking = Requester::new(own, connection.start, stream(streams, connection, "think"));
            return [Source::Requester(asking), Source::Responder(Responder::new(own.request, own.response))];
        }
        Application::Bulk(plan::Bulk { bytes, duration }) => {
            let stop = duration.map(|duration| connection.start.saturating_add(duration));
            Source::Bulk(BulkSource::new(*bytes, stop))
        }
        Application::Frames(_) | Application::Recorded(_) => unreachable!("they go over UDP"),
        Application::ConstantRate(_) | Application::OnOff(_) => {
            Source::Paced(paced(plan, connection, streams).expect("the application is paced"))
        }
    };
    match connection.data {
        DataDirection::Forward => [writing, Source::None],
        DataDirection::Backward => [Source::None, writing],
    }
}
