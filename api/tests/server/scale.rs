//! The table of docs/SCALING.md is what the model prints.

#[path = "../../examples/scale/model.rs"]
mod model;

#[test]
fn the_table_in_the_document_is_what_the_model_prints() {
    let document = include_str!("../../../docs/SCALING.md");
    assert!(document.contains(&model::table()), "put this into docs/SCALING.md:\n{}", model::table());
}
