//! Tests the work of operators: reports, appeals, takedowns, evidence, suspensions and the `/operator` pages.

mod appeal_queue;
mod appeals;
mod attention;
mod evidence;
mod operator;
mod operator_appeals;
mod operator_case;
mod operator_certificates;
mod operator_health;
mod operator_look;
mod operator_notifications;
mod report;
mod report_versions;
pub(crate) mod suspension;
mod suspension_race;
mod takedown;
mod unwanted;
mod unwanted_marks;
