-- Until all nodes run the new program, a title set through an older one follows the content of the next update.
-- Whether the owner set the title. Such a title stays when the content is replaced; any other follows the content.
ALTER TABLE sites ADD COLUMN title_set BIGINT NOT NULL DEFAULT 0;
