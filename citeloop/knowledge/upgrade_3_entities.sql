-- Format 3: what the chunks are about and what they mention, by the canonical form of its name.

CREATE TABLE entities (
    id INTEGER PRIMARY KEY,
    corpus_id TEXT NOT NULL REFERENCES corpora (id) ON DELETE CASCADE,
    form TEXT NOT NULL,
    UNIQUE (corpus_id, form)
);

CREATE TABLE mentions (
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    role INTEGER NOT NULL,  -- 0: the title or a heading over the chunk names it, 1: the text mentions it
    chunk_row INTEGER NOT NULL REFERENCES chunks (row) ON DELETE CASCADE,
    PRIMARY KEY (entity_id, role, chunk_row)
) WITHOUT ROWID;
CREATE INDEX mentions_of_chunk ON mentions (chunk_row);

-- Journal of documents stored before there were entities: the next run of the indexer reads their names.
CREATE TABLE unlinked_documents (
    document_id TEXT PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE
) WITHOUT ROWID;
INSERT INTO unlinked_documents SELECT id FROM documents;
