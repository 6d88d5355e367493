-- The knowledge store: corpora > documents > sections > chunks > sentences, with vectors. This is format 1; the scripts
-- upgrade_<format>_*.sql make the later ones of it.
-- Offsets are characters, half open: of the document's text for sections and chunks, of the chunk's text for sentences.
-- Vectors are little-endian rows: float32 for chunks, float16 for sentences.

CREATE TABLE corpora (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    embedding_model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    version INTEGER NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE TABLE documents (
    id TEXT PRIMARY KEY,
    corpus_id TEXT NOT NULL REFERENCES corpora (id) ON DELETE CASCADE,
    uri TEXT NOT NULL,
    title TEXT NOT NULL,
    media_type TEXT NOT NULL,
    -- Absolute path of the file it was read from, in bytes, as it need not be UTF-8: pruning asks if it is still there.
    source_file BLOB NOT NULL,
    content_hash TEXT NOT NULL,
    UNIQUE (corpus_id, uri)
);

CREATE TABLE sections (
    id TEXT PRIMARY KEY,
    document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    parent_id TEXT,
    level INTEGER NOT NULL,
    heading_path TEXT NOT NULL,  -- JSON array
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL
);
CREATE INDEX sections_of_document ON sections (document_id);

CREATE TABLE chunks (
    row INTEGER PRIMARY KEY,  -- order of the full scan
    id TEXT NOT NULL UNIQUE,
    corpus_id TEXT NOT NULL REFERENCES corpora (id) ON DELETE CASCADE,
    document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    section_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (document_id, position)
);
CREATE INDEX chunks_of_corpus ON chunks (corpus_id);
CREATE INDEX chunks_of_section ON chunks (section_id);

-- Apart from the chunks, so that reading text does not step over vectors.
CREATE TABLE chunk_vectors (
    chunk_row INTEGER PRIMARY KEY REFERENCES chunks (row) ON DELETE CASCADE,
    vector BLOB NOT NULL
);

CREATE TABLE chunk_sentences (
    chunk_row INTEGER PRIMARY KEY REFERENCES chunks (row) ON DELETE CASCADE,
    spans BLOB NOT NULL,  -- int32 pairs
    vectors BLOB NOT NULL
);

-- Journal of the search indexes: chunks written or removed here that the indexes may not know of yet.
CREATE TABLE stale_chunks (
    corpus_id TEXT NOT NULL REFERENCES corpora (id) ON DELETE CASCADE,
    chunk_id TEXT NOT NULL,
    PRIMARY KEY (corpus_id, chunk_id)
) WITHOUT ROWID;

-- Journal of deleted corpora whose index data may still be there.
CREATE TABLE dropped_corpora (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    embedding_model TEXT NOT NULL,
    dimension INTEGER NOT NULL
);

-- Versions are counted over the whole store: a corpus that is deleted and made anew never shows an old number again.
CREATE TABLE version_counter (value INTEGER NOT NULL);
INSERT INTO version_counter (value) VALUES (0);
