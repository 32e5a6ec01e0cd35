//! The key of a paid account: of any number of responses one takes it, and each can tell later whether it was the one.

use dropleaf_core::payment::Item;
use dropleaf_core::rail::Rail;
use dropleaf_store::{DbError, Store, card_payments, payments};

use crate::harness::for_each_database;
use crate::revenue::payment;

#[tokio::test]
async fn one_response_takes_the_key_and_knows_it_afterwards() {
    for_each_database(async |database| {
        let store = Store::new(database.open().await, database.blobs());
        let mut sold = payment("pay_1", Rail::Card, true, 100);
        sold.item = Item::Provision;
        sold.draft = Some(vec![1]);
        store.commit(vec![payments::insert(&sold)]).await.unwrap();
        assert!(!store.is_key_taken_by("pay_1", "take_1").await.unwrap());
        store.commit(vec![card_payments::take_key("pay_1", "take_1", 7)]).await.unwrap();
        // In the same second, so that the time could not tell them apart.
        let second = store.commit(vec![card_payments::take_key("pay_1", "take_2", 7)]).await;
        assert!(matches!(second, Err(DbError::Guard(card_payments::DELIVERED))), "{second:?}");
        assert!(store.is_key_taken_by("pay_1", "take_1").await.unwrap());
        assert!(!store.is_key_taken_by("pay_1", "take_2").await.unwrap());
    })
    .await;
}
