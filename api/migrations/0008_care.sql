-- Users that leave, and what grows.

-- Rows of a user go for good with the user, and by nobody but whoever works on the server's host: a request may delete none.
CREATE POLICY removed ON memories FOR DELETE TO CURRENT_USER USING (owner = (SELECT uid()));

-- When what grows was cleaned up last: one replica does it, and the others see that it did.
ALTER TABLE server_meta ADD COLUMN cleaned timestamptz NOT NULL DEFAULT '-infinity';
