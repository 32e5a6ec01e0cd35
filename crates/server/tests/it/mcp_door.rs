//! `/mcp`: asks for a credential as MCP clients expect it; behind it there is nothing yet. Spec §4 MCP.

use crate::harness::Node;

#[tokio::test]
async fn mcp_asks_for_a_credential_and_names_its_own_document() {
    let node = Node::start().await;
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", node.base_url());
    let asks = format!("Bearer resource_metadata=\"{metadata}\", scope=\"sites:read sites:write\"");
    for ask in [node.get("/mcp"), node.post("/mcp")] {
        let answer = ask.send().await.refused(401, "auth required");
        assert_eq!(answer.header("www-authenticate"), asks);
    }
    let answer = node.post("/mcp").key("oat_nonsense").send().await.refused(401, "invalid_credential");
    assert!(
        answer.header("www-authenticate").starts_with("Bearer error=\"invalid_token\", resource_metadata=")
    );
    assert!(answer.header("www-authenticate").contains(&metadata));
    let document = node.get("/.well-known/oauth-protected-resource/mcp").send().await.expect(200).json();
    assert_eq!(document["resource"], format!("{}/mcp", node.base_url()));
    node.post("/mcp").key(&node.key).send().await.refused(404, "not_found");
}
