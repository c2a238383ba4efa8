-- A replica's image runs this once, on an empty server: it repeats what its primary did, from the
-- first statement on, by global transaction ids. MASTER_DELAY: in seconds; more makes it late.
CHANGE MASTER TO
    MASTER_HOST='mysql-primary', MASTER_PORT=3306, MASTER_USER='root',
    MASTER_USE_GTID=slave_pos, MASTER_DELAY=0;
START SLAVE;
