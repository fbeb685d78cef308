.PHONY: demo test
test:
	cargo test --workspace
