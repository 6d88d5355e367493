-- Format 4: typed relations between entities, as a chat model read them in the chunks.

CREATE TABLE relations (
    chunk_row INTEGER NOT NULL REFERENCES chunks (row) ON DELETE CASCADE,  -- states it
    subject TEXT NOT NULL,  -- canonical form, as in entities; so is object
    relation TEXT NOT NULL,
    object TEXT NOT NULL,
    subject_spelling TEXT NOT NULL,
    object_spelling TEXT NOT NULL,
    corpus_id TEXT NOT NULL REFERENCES corpora (id) ON DELETE CASCADE,
    PRIMARY KEY (chunk_row, subject, relation, object)
) WITHOUT ROWID;
CREATE INDEX relations_of_subject ON relations (corpus_id, subject, relation);
CREATE INDEX relations_of_object ON relations (corpus_id, object, relation);

-- The chunks that were read for relations, whether they hold some or none: the others are still to be read.
CREATE TABLE relation_readings (
    chunk_row INTEGER PRIMARY KEY REFERENCES chunks (row) ON DELETE CASCADE,
    failure TEXT NOT NULL  -- why it could not be read and is tried again; empty where it was
);
