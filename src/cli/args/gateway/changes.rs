//! Arguments of `gateway`: recurring charges from earlier charges, and changes of what no document
//! manages.

use chrono::NaiveDate;
use clap::{Args, ValueEnum};

use super::merchant_data::Deletable;
use super::options::ActionArgs;
use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::base::schedule::{Day, IntervalUnit};

/// The unit of a schedule's step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScheduleUnit {
    /// Days.
    Day,
    /// Weeks.
    Week,
    /// Months.
    Month,
}

impl ScheduleUnit {
    /// Returns the schedule's unit.
    pub fn unit(self) -> IntervalUnit {
        match self {
            Self::Day => IntervalUnit::Day,
            Self::Week => IntervalUnit::Week,
            Self::Month => IntervalUnit::Month,
        }
    }
}

/// Arguments of `gateway schedule`.
#[derive(Debug, Args)]
pub struct ScheduleArgs {
    /// The earlier charge: its id on the service.
    #[arg(value_name = "CHARGE")]
    pub charge: RemoteId,
    /// The amount of each payment, with its currency: "125.00 USD".
    #[arg(long)]
    pub amount: Money,
    /// The first date that may be due, YYYY-MM-DD; not today.
    #[arg(long, value_name = "DATE")]
    pub start: NaiveDate,
    /// The unit of the schedule's step.
    #[arg(long, value_name = "UNIT")]
    pub every: ScheduleUnit,
    /// The number of units from one payment to the next.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub step: u32,
    /// The last date that may be due, YYYY-MM-DD.
    #[arg(long, value_name = "DATE")]
    pub end: Option<NaiveDate>,
    /// Days within each week (1 is Monday) or month (LAST is its last one), with commas between;
    /// the day of the start by default.
    #[arg(long, value_name = "DAYS", value_delimiter = ',')]
    pub days: Vec<Day>,
    #[command(flatten)]
    pub common: ActionArgs,
}

/// Arguments of `gateway change`.
#[derive(Debug, Args)]
pub struct ChangeArgs {
    /// The type of the object.
    #[arg(value_name = "TYPE")]
    pub kind: Deletable,
    /// The object's id on the service.
    #[arg(value_name = "ID")]
    pub id: RemoteId,
    /// A field to set; may be repeated. Names: `description`; of a card or bank also `reference`,
    /// where an empty VALUE removes the text; of a recurring charge also `amount`, `max_amount`
    /// (with their currency, such as "125.00 USD"), `max_occurrences`, and, where it collects from
    /// a card, the card's new date: `exp_month` and `exp_year` together.
    #[arg(long, value_name = "NAME=VALUE", required = true)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub common: ActionArgs,
}
