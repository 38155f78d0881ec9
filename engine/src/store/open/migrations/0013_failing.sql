-- Why the server could not process a change, although it did not reject it. Such a change is retried with each exchange.
ALTER TABLE outbox ADD COLUMN failing TEXT;
