//! What a file says for the values of a link's direction.

use super::link::{
    BernoulliTable, CodelTable, DirectionValue, DropTailTable, ExactTable, ExponentialTable, FqCodelTable,
    GilbertElliottTable, JitterTable, LossTable, NoKeys, NormalTable, QueueTable, RedTable, UniformTable,
    WanderTable,
};
use super::quantity::{Chance, Limit, Time};
use ropewalk_sim::{Jitter, Loss, Queue};
use ropewalk_units::{Duration, Probability};

impl DirectionValue for Duration {
    type Form = Time;

    fn form(&self) -> Time {
        Time(*self)
    }
}

impl DirectionValue for bool {
    type Form = Self;

    fn form(&self) -> Self {
        *self
    }
}

impl DirectionValue for Probability {
    type Form = Chance;

    fn form(&self) -> Chance {
        Chance(*self)
    }
}

impl DirectionValue for Jitter {
    type Form = JitterTable;

    fn form(&self) -> JitterTable {
        match *self {
            Jitter::None => JitterTable::None(NoKeys {}),
            Jitter::Uniform(max) => JitterTable::Uniform(UniformTable { max: Time(max) }),
            Jitter::Normal(deviation) => JitterTable::Normal(NormalTable { deviation: Time(deviation) }),
            Jitter::Exponential(mean) => JitterTable::Exponential(ExponentialTable { mean: Time(mean) }),
            Jitter::Wander { max, interval } => {
                JitterTable::Wander(WanderTable { max: Time(max), interval: Some(Time(interval)) })
            }
        }
    }
}

impl DirectionValue for Loss {
    type Form = LossTable;

    fn form(&self) -> LossTable {
        match self {
            Loss::None => LossTable::None(NoKeys {}),
            Loss::Bernoulli(probability) => {
                LossTable::Bernoulli(BernoulliTable { probability: Chance(*probability) })
            }
            Loss::BitErrors(probability) => {
                LossTable::BitErrors(BernoulliTable { probability: Chance(*probability) })
            }
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                LossTable::GilbertElliott(GilbertElliottTable {
                    good_to_bad: Chance(*good_to_bad),
                    bad_to_good: Chance(*bad_to_good),
                    loss_good: Some(Chance(*loss_good)),
                    loss_bad: Some(Chance(*loss_bad)),
                })
            }
            Loss::Exact(packets) => {
                let packets =
                    packets.iter().map(|&number| i64::try_from(number).unwrap_or(i64::MAX)).collect();
                LossTable::Exact(ExactTable { packets })
            }
        }
    }
}

impl DirectionValue for Queue {
    type Form = QueueTable;

    fn form(&self) -> QueueTable {
        match self {
            Queue::DropTail { limit, mark_above } => {
                QueueTable::DropTail(DropTailTable { limit: Some(Limit(*limit)), mark_above: *mark_above })
            }
            Queue::Red { limit, red } => {
                let limit = Some(Limit(*limit));
                QueueTable::Red(RedTable { limit, ..RedTable::show(red).unwrap_or_default() })
            }
            Queue::Codel { limit, codel } => {
                let limit = Some(Limit(*limit));
                QueueTable::Codel(CodelTable { limit, ..CodelTable::show(codel).unwrap_or_default() })
            }
            Queue::FqCodel { limit, fq_codel } => {
                let codel = CodelTable::show(&fq_codel.codel).unwrap_or_default();
                QueueTable::FqCodel(FqCodelTable {
                    limit: Some(Limit(*limit)),
                    target: codel.target,
                    interval: codel.interval,
                    ecn: codel.ecn,
                    ..FqCodelTable::show(fq_codel).unwrap_or_default()
                })
            }
        }
    }
}
