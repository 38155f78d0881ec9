-- Why the server could not process a change, although it did not reject it. Such a change is retried with each exchange.
ALTER TABLE outbox ADD COLUMN failing TEXT;

-- An importance in millionths, where the hundredths in `importance` do not say it all.
ALTER TABLE memories ADD COLUMN importance_beyond INTEGER CHECK (importance_beyond BETWEEN 0 AND 1000000);
