-- A server's image runs this once, on an empty server: whatever the server's own character set is,
-- any text can be stored, and as on SQLite two texts are equal if they are identical.
CREATE DATABASE IF NOT EXISTS feed CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
-- All that the service may do, migrations included.
GRANT ALL ON feed.* TO feed@'%';
