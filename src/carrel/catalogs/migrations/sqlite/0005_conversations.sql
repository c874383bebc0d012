-- What was asked and answered in conversations that the user wanted kept.
CREATE TABLE turns (
    session  TEXT NOT NULL,
    number   INTEGER NOT NULL,               -- from 1
    question TEXT NOT NULL,
    asked    TEXT NOT NULL,                  -- as it was searched for
    answer   TEXT NOT NULL,
    asked_at TEXT NOT NULL,                  -- UTC
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;
