-- Objects of the sandbox card processor, such as checkout sessions and payments. Test data: no cards, no money.
CREATE TABLE sandbox_objects (
  kind       TEXT NOT NULL,
  -- SHA-256 of the object's id, in hexadecimal: the id of a granted token is the token itself.
  id         TEXT NOT NULL,
  -- Rises by one with every change; a change is written on condition that it follows the stored version.
  version    BIGINT NOT NULL,
  json       TEXT NOT NULL,
  -- When this version was written: objects that have not changed for long are deleted.
  created_at BIGINT NOT NULL,
  PRIMARY KEY (kind, id)
);
CREATE INDEX sandbox_objects_by_time ON sandbox_objects(created_at);
