//! Sends the corpus of hostile archives to a real server: each is refused, and the server keeps serving.

use crate::harness::{Form, Node};

#[tokio::test]
async fn every_hostile_archive_is_refused_with_its_code_and_serving_goes_on() {
    let node = Node::start().await;
    let site = node.publish_page("Steady").await;
    let corpus = dropleaf_content::hostile::corpus();
    assert!(corpus.len() >= 80, "{} cases", corpus.len());
    for (name, bytes, code) in corpus {
        let answer = node.post("/sites").key(&node.key).form(Form::file("a.zip", bytes)).send().await;
        assert!((400..500).contains(&answer.status), "{name}: {} {}", answer.status, answer.text());
        assert_eq!(answer.json()["error"], code.as_str(), "{name}");
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
    assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 1, "a refusal stores nothing");
    let spool = std::fs::read_dir(node.data_dir().join("spool")).unwrap();
    assert_eq!(spool.count(), 0, "nothing is left lying about");
}
