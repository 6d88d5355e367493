-- Format 2: who may read a corpus beside its owner.

CREATE TABLE grants (
    corpus_id TEXT NOT NULL REFERENCES corpora (id) ON DELETE CASCADE,
    principal TEXT NOT NULL,  -- user:<id>, group:<name> or everyone
    granted_at TEXT NOT NULL,  -- ISO 8601, UTC
    granted_by TEXT NOT NULL,  -- id of a user
    PRIMARY KEY (corpus_id, principal)
) WITHOUT ROWID;
CREATE INDEX grants_of_principal ON grants (principal, corpus_id);

-- By the principal that owns it, as a caller's principals are compared with it.
CREATE INDEX corpora_of_owner ON corpora ('user:' || owner);
