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
    cargo build --release --workspace
    cargo bench -p tessera-benches

# Accepts a changed order or cost of the fixture queries.
accept-quality:
    UPDATE_EXPECT=1 cargo test --test it quality
