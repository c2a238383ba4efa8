-- The image runs this once, on an empty server: any text can be stored, and as on SQLite two texts
-- are equal if they are identical.
\getenv password POSTGRES_PASSWORD
CREATE USER feed PASSWORD :'password';
CREATE DATABASE feed OWNER feed TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C';
-- The service has no other database, and nobody is the superuser from outside of the container.
REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC;
ALTER USER postgres PASSWORD NULL;
