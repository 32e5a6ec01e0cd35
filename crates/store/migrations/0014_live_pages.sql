-- Pages that update in the browser when a new version is published; off for every page there is.

ALTER TABLE sites ADD COLUMN live BIGINT NOT NULL DEFAULT 0;
