//! Which postings are made, and which are refused.

use super::*;
use crate::account::Charge;
use crate::payment::{Item, Payment, PaymentState};
use crate::rail::Rail;
use crate::unlock::Sku;

pub(crate) fn payment(sandbox: bool) -> Payment {
    Payment {
        id: "pay_1".into(),
        key: "eip155:8453:0xtoken:0xpayer:0xnonce".into(),
        item: Item::Publish,
        rail: Rail::X402,
        generation: 2,
        network: "eip155:8453".into(),
        asset: "0xtoken".into(),
        payer: "0xpayer".into(),
        pay_to: "0xus".into(),
        amount: 500_000,
        credit_minor: 0,
        refunded_minor: 0,
        disputed_minor: 0,
        payer_is_eoa: true,
        sandbox,
        request_hash: [0; 32],
        client: String::new(),
        once_hashes: Vec::new(),
        state: PaymentState::Fulfilled,
        ask: None,
        fee_payer: None,
        draft: None,
        bundle_id: None,
        site_id: None,
        account_id: None,
        transaction: None,
        reason: None,
        attempts: 1,
        held_until: 0,
        valid_until: 0,
        created_at: 0,
        updated_at: 0,
        fulfilled_at: Some(0),
        delivered_at: None,
    }
}

fn lines(posting: &Posting) -> Vec<(&str, i64)> {
    posting.entries().iter().map(|entry| (entry.book.id.as_str(), entry.amount)).collect()
}

#[test]
fn income_is_an_asset_and_revenue_and_play_money_has_books_of_its_own() {
    let real = Posting::income(&payment(false)).unwrap();
    assert_eq!(lines(&real), [("asset:x402:eip155:8453", 500_000), ("revenue:publish:usdc6", -500_000)]);
    assert_eq!(real.key(), "x402:eip155:8453:0xtoken:0xpayer:0xnonce");
    assert_eq!(real.payment_id(), Some("pay_1"));
    let play = Posting::income(&payment(true)).unwrap();
    assert_eq!(lines(&play), [("asset:sandbox:eip155:8453", 500_000), ("revenue:publish:play6", -500_000)]);
    assert!(play.entries().iter().all(|entry| entry.book.unit == Unit::Play6));
}

#[test]
fn balance_is_a_liability_that_grants_raise_and_spending_lowers() {
    let grant = Posting::grant("g", "acct_1", 1000, false, "thanks".into()).unwrap();
    assert_eq!(lines(&grant), [("equity:grants", 1000), ("prepaid:acct_1", -1000)]);
    let play = Posting::grant("g", "acct_1", 1000, true, "thanks".into()).unwrap();
    assert_eq!(lines(&play), [("equity:sandbox:grants", 1000), ("prepaid:sandbox:acct_1", -1000)]);
    let real = |cents| Charge { real: cents, sandbox: 0 };
    let spend = Posting::spend("s", "acct_1", Item::Unlock(Sku::MakePermanent), real(200)).unwrap();
    assert_eq!(lines(&spend), [("prepaid:acct_1", 200), ("revenue:make_permanent:usd2", -200)]);
    assert_eq!(spend.entries()[0].book.owner.as_deref(), Some("acct_1"));
    assert_eq!(Posting::spend("s", "acct_1", Item::Publish, real(0)), None);
    let both = Posting::spend("s", "acct_1", Item::Publish, Charge { real: 20, sandbox: 30 }).unwrap();
    assert_eq!(
        lines(&both),
        [
            ("prepaid:acct_1", 20),
            ("prepaid:sandbox:acct_1", 30),
            ("revenue:publish:play2", -30),
            ("revenue:publish:usd2", -20),
        ]
    );
}

/// A new account with credit, paid by card.
fn card_payment() -> Payment {
    Payment {
        key: "stripe:cs_1".into(),
        item: Item::Provision,
        rail: Rail::Card,
        network: "stripe".into(),
        asset: "usd".into(),
        amount: 600,
        credit_minor: 500,
        account_id: Some("acct_1".into()),
        ..payment(false)
    }
}

#[test]
fn card_payment_is_revenue_and_credit() {
    let income = Posting::income(&card_payment()).unwrap();
    assert_eq!(
        lines(&income),
        [("asset:card:stripe", 600), ("prepaid:acct_1", -500), ("revenue:provision:usd2", -100)]
    );
    assert_eq!(income.key(), "card:stripe:cs_1");
    let topup = Payment { item: Item::Topup, credit_minor: 600, sandbox: true, ..card_payment() };
    assert_eq!(
        lines(&Posting::income(&topup).unwrap()),
        [("asset:sandbox:stripe", 600), ("prepaid:sandbox:acct_1", -600)]
    );
    for wrong in [
        Payment { credit_minor: 601, ..card_payment() },
        Payment { account_id: None, ..card_payment() },
        Payment { rail: Rail::Mpp, ..card_payment() },
    ] {
        assert_eq!(Posting::income(&wrong), None);
    }
}

#[test]
fn refund_takes_credit_back_first_and_what_was_spent_is_owed() {
    let payment = card_payment();
    let divide = |reversed, amount, available| {
        let Reversal { revenue, balance, owed } =
            Reversal::between(&payment, reversed, reversed + amount, available, 0);
        (revenue, balance, owed)
    };
    assert_eq!(divide(0, 200, 500), (0, 200, 0));
    assert_eq!(divide(0, 600, 500), (100, 500, 0));
    assert_eq!(divide(0, 600, 120), (100, 120, 380), "380 were spent");
    assert_eq!(divide(450, 150, 500), (100, 50, 0), "only 50 of the credit are left");
    assert_eq!(divide(550, 50, 500), (50, 0, 0));
    let parts = Reversal::between(&payment, 0, 600, 120, 0);
    let refund = Posting::reversal(&payment, ReversalCause::Refund { total: 600, posted: 0 }, parts).unwrap();
    assert_eq!(
        lines(&refund),
        [
            ("asset:card:stripe", -600),
            ("asset:owed:usd2:acct_1", 380),
            ("prepaid:acct_1", 120),
            ("revenue:provision:usd2", 100),
        ]
    );
    assert_eq!((refund.key(), refund.cause()), ("refund:pay_1:0:600", Cause::Refund));
    let parts = Reversal::between(&payment, 600, 0, 0, 380);
    let back = Posting::reversal(&payment, ReversalCause::Reinstatement("du_1"), parts).unwrap();
    assert!(lines(&back).iter().zip(lines(&refund)).all(|(back, gone)| *back == (gone.0, -gone.1)));
    assert_eq!(Posting::reversal(&payment, ReversalCause::Dispute("du_1"), Reversal::default()), None);
}

#[test]
fn what_goes_back_in_total_follows_from_the_totals_alone() {
    let payment = card_payment();
    for spent in [0, 120, 500] {
        let run = |totals: &[i64]| {
            let (mut before, mut revenue, mut balance, mut owed) = (0, 0, 500 - spent, 0);
            for after in totals {
                let parts = Reversal::between(&payment, before, *after, balance, owed);
                assert_eq!(parts.total(), after - before);
                (revenue, balance, owed) =
                    (revenue + parts.revenue, balance - parts.balance, owed + parts.owed);
                assert!(balance >= 0 && owed >= 0);
                before = *after;
            }
            (revenue, balance, owed)
        };
        for last in [0, 50, 200, 500, 550, 600] {
            let direct = run(&[last]);
            for first in [0, 100, 450, 600] {
                assert_eq!(run(&[first, last]), direct, "{spent} {first} {last}");
                assert_eq!(run(&[first, 600, 20, last]), direct, "{spent} {first} {last}");
            }
        }
    }
}

#[test]
fn what_does_not_sum_to_zero_in_each_unit_is_not_booked() {
    let entry = |book: Book, amount| Entry { book, amount };
    let (cents, micros) = (Book::grants(false), Book::revenue(Item::Publish, Unit::Usdc6));
    let book = |entries| Posting::new("k".into(), Cause::Grant, entries);
    assert_eq!(book(vec![]), None);
    assert_eq!(book(vec![entry(cents.clone(), 5)]), None);
    assert_eq!(book(vec![entry(cents.clone(), 5), entry(micros, -5)]), None, "units do not mix");
    assert_eq!(book(vec![entry(cents.clone(), i64::MAX), entry(cents.clone(), -i64::MAX)]), None);
    let three = vec![
        entry(cents, 6),
        entry(Book::prepaid("a", false), -5),
        entry(Book::revenue(Item::Provision, Unit::Usd2), -1),
    ];
    assert!(book(three).is_some());
}

#[test]
fn fingerprint_knows_what_is_booked_but_not_what_is_noted() {
    let grant =
        |cents, note: &str| Posting::grant("g", "acct_1", cents, false, note.into()).unwrap().fingerprint();
    assert_eq!(grant(5, "a"), grant(5, "b"));
    assert_ne!(grant(5, "a"), grant(6, "a"));
    assert_ne!(grant(5, "a"), Posting::grant("g", "acct_2", 5, false, "a".into()).unwrap().fingerprint());
}

#[test]
fn amounts_are_read_and_written_exactly() {
    for (text, read) in
        [("10", 1000), ("10.00", 1000), ("0.5", 50), ("-2.50", -250), (" 1 ", 100), ("1000000", 100_000_000)]
    {
        assert_eq!(cents(text).unwrap(), read, "{text}");
    }
    for text in ["", "0", "0.00", "-", "--1", "1.", ".5", "1.234", "1e3", "1000000.01", "1,0", "+1"] {
        assert!(cents(text).is_err(), "{text}");
    }
    for (unit, amount, text) in [
        (Unit::Usdc6, 500_000, "0.50 USDC"),
        (Unit::Usdc6, 1, "0.000001 USDC"),
        (Unit::Play6, 25_000_000, "25.00 sandbox USDC"),
        (Unit::Usd2, -250, "-$2.50"),
        (Unit::Play2, 600, "$6.00 (sandbox)"),
    ] {
        assert_eq!(unit.written(amount), text);
    }
}

#[test]
fn names_read_back() {
    assert!(Unit::ALL.iter().all(|unit| Unit::parse(unit.as_str()) == Some(*unit)));
    assert!(Kind::ALL.iter().all(|kind| Kind::parse(kind.as_str()) == Some(*kind)));
    assert!(Cause::ALL.iter().all(|cause| Cause::parse(cause.as_str()) == Some(*cause)));
}
