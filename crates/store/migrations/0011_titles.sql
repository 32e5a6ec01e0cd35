-- Whether the owner set the title. Such a title stays when the content is replaced; any other follows the content.
ALTER TABLE sites ADD COLUMN title_set BIGINT NOT NULL DEFAULT 0;
