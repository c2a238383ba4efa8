/*M!999999\- enable the sandbox mode */ 
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `accounts_block` (
  `other_id` bigint(20) NOT NULL,
  `person_id` bigint(20) NOT NULL,
  PRIMARY KEY (`person_id`,`other_id`),
  KEY `accounts_block_other_id_8e198fe8_fk_accounts_person_id` (`other_id`),
  CONSTRAINT `accounts_block_other_id_8e198fe8_fk_accounts_person_id` FOREIGN KEY (`other_id`) REFERENCES `accounts_person` (`id`),
  CONSTRAINT `accounts_block_person_id_804797d0_fk_accounts_person_id` FOREIGN KEY (`person_id`) REFERENCES `accounts_person` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `accounts_block` VALUES
(2,9);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `accounts_follow` (
  `author_id` bigint(20) NOT NULL,
  `reader_id` bigint(20) NOT NULL,
  PRIMARY KEY (`author_id`,`reader_id`),
  KEY `follow_of_reader` (`reader_id`,`author_id`),
  CONSTRAINT `accounts_follow_author_id_8e25a5c2_fk_accounts_person_id` FOREIGN KEY (`author_id`) REFERENCES `accounts_person` (`id`),
  CONSTRAINT `accounts_follow_reader_id_973924a1_fk_accounts_person_id` FOREIGN KEY (`reader_id`) REFERENCES `accounts_person` (`id`),
  CONSTRAINT `nobody_follows_themselves` CHECK (`author_id` <> `reader_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `accounts_follow` VALUES
(1,2),
(1,3),
(1,7),
(1,8),
(2,1),
(2,3),
(2,4),
(2,8),
(3,1),
(3,2),
(3,4),
(3,5),
(4,2),
(4,3),
(4,5),
(4,6),
(5,3),
(5,4),
(5,6),
(5,7),
(6,4),
(6,5),
(6,7),
(6,8),
(7,1),
(7,5),
(7,6),
(7,8),
(8,1),
(8,2),
(8,6),
(8,7);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `accounts_friendrequest` (
  `friend_id` bigint(20) NOT NULL,
  `created_at` datetime(6) NOT NULL DEFAULT current_timestamp(6),
  `person_id` bigint(20) NOT NULL,
  PRIMARY KEY (`person_id`,`friend_id`),
  KEY `request_received` (`friend_id`,`created_at`),
  CONSTRAINT `accounts_friendrequest_friend_id_0a9fbd99_fk_accounts_person_id` FOREIGN KEY (`friend_id`) REFERENCES `accounts_person` (`id`),
  CONSTRAINT `accounts_friendrequest_person_id_e1f4bae7_fk_accounts_person_id` FOREIGN KEY (`person_id`) REFERENCES `accounts_person` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `accounts_friendrequest` VALUES
(1,'2026-11-28 10:08:12.950846',9);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `accounts_group` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `name` varchar(150) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `name` (`name`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `accounts_group` VALUES
(1,'public');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `accounts_limit` (
  `key` varchar(150) NOT NULL,
  `until_ms` bigint(20) NOT NULL,
  PRIMARY KEY (`key`),
  KEY `accounts_limit_until_ms_6802b307` (`until_ms`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `accounts_membership` (
  `person_id` bigint(20) NOT NULL,
  `group_id` bigint(20) NOT NULL,
  PRIMARY KEY (`person_id`,`group_id`),
  KEY `accounts_membership_group_id_ae835a10_fk_accounts_group_id` (`group_id`),
  CONSTRAINT `accounts_membership_group_id_ae835a10_fk_accounts_group_id` FOREIGN KEY (`group_id`) REFERENCES `accounts_group` (`id`),
  CONSTRAINT `accounts_membership_person_id_cd00e383_fk_accounts_person_id` FOREIGN KEY (`person_id`) REFERENCES `accounts_person` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `accounts_membership` VALUES
(1,1),
(2,1),
(3,1),
(4,1),
(5,1),
(6,1),
(7,1),
(8,1),
(9,1);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `accounts_person` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `password` varchar(128) NOT NULL,
  `username` varchar(150) NOT NULL,
  `is_active` tinyint(1) NOT NULL,
  `friends_version` bigint(20) DEFAULT NULL,
  `tokens_version` bigint(20) NOT NULL,
  `username_key` varchar(255) DEFAULT NULL,
  `is_private` tinyint(1) NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`),
  UNIQUE KEY `username` (`username`),
  UNIQUE KEY `username_key` (`username_key`)
) ENGINE=InnoDB AUTO_INCREMENT=10 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `accounts_person` VALUES
(1,'!UbRSLTBySdc8p7ofsxZmRt2XfVZcf4BhUCCQregd','person1',1,3949050375272602555,0,'personl',0),
(2,'!UbRSLTBySdc8p7ofsxZmRt2XfVZcf4BhUCCQregd','person2',1,3949050375272602555,0,'person2',0),
(3,'!UbRSLTBySdc8p7ofsxZmRt2XfVZcf4BhUCCQregd','person3',1,3949050375272602555,0,'person3',0),
(4,'!UbRSLTBySdc8p7ofsxZmRt2XfVZcf4BhUCCQregd','person4',1,3949050375272602555,0,'person4',0),
(5,'!UbRSLTBySdc8p7ofsxZmRt2XfVZcf4BhUCCQregd','person5',1,3949050375272602555,0,'person5',0),
(6,'!UbRSLTBySdc8p7ofsxZmRt2XfVZcf4BhUCCQregd','person6',1,3949050375272602555,0,'person6',0),
(7,'!UbRSLTBySdc8p7ofsxZmRt2XfVZcf4BhUCCQregd','person7',1,3949050375272602555,0,'person7',0),
(8,'!UbRSLTBySdc8p7ofsxZmRt2XfVZcf4BhUCCQregd','person8',1,3949050375272602555,0,'person8',0),
(9,'argon2$argon2id$v=19$m=19456,t=2,p=1$WE9NdjkzemxRTkdnSkFNQktMNm1RSA$MO6lhKFGh2835D+2iiH9DWWhgTpLWY2QntQ4fJHRljE','ada ünï',1,NULL,0,'ada ünl̈',0);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `accounts_profile` (
  `person_id` bigint(20) NOT NULL,
  `name` varchar(150) NOT NULL,
  PRIMARY KEY (`person_id`),
  CONSTRAINT `accounts_profile_person_id_44a7b50b_fk_accounts_person_id` FOREIGN KEY (`person_id`) REFERENCES `accounts_person` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `accounts_profile` VALUES
(1,''),
(2,''),
(3,''),
(4,''),
(5,''),
(6,''),
(7,''),
(8,''),
(9,'');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `accounts_revocation` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `person_id` bigint(20) NOT NULL,
  `version` bigint(20) DEFAULT NULL,
  `session_id` bigint(20) DEFAULT NULL,
  `revoked_at` datetime(6) NOT NULL DEFAULT current_timestamp(6),
  PRIMARY KEY (`id`),
  KEY `accounts_revocation_revoked_at_9ca8363a` (`revoked_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `accounts_session` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `refresh_id` varchar(32) NOT NULL,
  `expires_at` datetime(6) NOT NULL,
  `person_id` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `accounts_session_person_id_6b01fe29_fk_accounts_person_id` (`person_id`),
  KEY `accounts_session_expires_at_94e81f09` (`expires_at`),
  CONSTRAINT `accounts_session_person_id_6b01fe29_fk_accounts_person_id` FOREIGN KEY (`person_id`) REFERENCES `accounts_person` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `auth_group` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `name` varchar(150) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `auth_group_permissions` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `group_id` int(11) NOT NULL,
  `permission_id` int(11) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `auth_group_permissions_group_id_permission_id_0cd325b0_uniq` (`group_id`,`permission_id`),
  KEY `auth_group_permissio_permission_id_84c5c92e_fk_auth_perm` (`permission_id`),
  CONSTRAINT `auth_group_permissio_permission_id_84c5c92e_fk_auth_perm` FOREIGN KEY (`permission_id`) REFERENCES `auth_permission` (`id`),
  CONSTRAINT `auth_group_permissions_group_id_b120cbf9_fk_auth_group_id` FOREIGN KEY (`group_id`) REFERENCES `auth_group` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `auth_permission` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `name` varchar(255) NOT NULL,
  `content_type_id` int(11) NOT NULL,
  `codename` varchar(100) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `auth_permission_content_type_id_codename_01ab375a_uniq` (`content_type_id`,`codename`),
  CONSTRAINT `auth_permission_content_type_id_2f476e4b_fk_django_co` FOREIGN KEY (`content_type_id`) REFERENCES `django_content_type` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=113 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `auth_permission` VALUES
(1,'Can add permission',1,'add_permission'),
(2,'Can change permission',1,'change_permission'),
(3,'Can delete permission',1,'delete_permission'),
(4,'Can view permission',1,'view_permission'),
(5,'Can add group',2,'add_group'),
(6,'Can change group',2,'change_group'),
(7,'Can delete group',2,'delete_group'),
(8,'Can view group',2,'view_group'),
(9,'Can add content type',3,'add_contenttype'),
(10,'Can change content type',3,'change_contenttype'),
(11,'Can delete content type',3,'delete_contenttype'),
(12,'Can view content type',3,'view_contenttype'),
(13,'Can add person',4,'add_person'),
(14,'Can change person',4,'change_person'),
(15,'Can delete person',4,'delete_person'),
(16,'Can view person',4,'view_person'),
(17,'Can add group',5,'add_group'),
(18,'Can change group',5,'change_group'),
(19,'Can delete group',5,'delete_group'),
(20,'Can view group',5,'view_group'),
(21,'Can add profile',6,'add_profile'),
(22,'Can change profile',6,'change_profile'),
(23,'Can delete profile',6,'delete_profile'),
(24,'Can view profile',6,'view_profile'),
(25,'Can add membership',7,'add_membership'),
(26,'Can change membership',7,'change_membership'),
(27,'Can delete membership',7,'delete_membership'),
(28,'Can view membership',7,'view_membership'),
(29,'Can add limit',8,'add_limit'),
(30,'Can change limit',8,'change_limit'),
(31,'Can delete limit',8,'delete_limit'),
(32,'Can view limit',8,'view_limit'),
(33,'Can add revocation',9,'add_revocation'),
(34,'Can change revocation',9,'change_revocation'),
(35,'Can delete revocation',9,'delete_revocation'),
(36,'Can view revocation',9,'view_revocation'),
(37,'Can add block',10,'add_block'),
(38,'Can change block',10,'change_block'),
(39,'Can delete block',10,'delete_block'),
(40,'Can view block',10,'view_block'),
(41,'Can add friend request',11,'add_friendrequest'),
(42,'Can change friend request',11,'change_friendrequest'),
(43,'Can delete friend request',11,'delete_friendrequest'),
(44,'Can view friend request',11,'view_friendrequest'),
(45,'Can add session',12,'add_session'),
(46,'Can change session',12,'change_session'),
(47,'Can delete session',12,'delete_session'),
(48,'Can view session',12,'view_session'),
(49,'Can add follow',13,'add_follow'),
(50,'Can change follow',13,'change_follow'),
(51,'Can delete follow',13,'delete_follow'),
(52,'Can view follow',13,'view_follow'),
(53,'Can add set based entry',14,'add_setbasedentry'),
(54,'Can change set based entry',14,'change_setbasedentry'),
(55,'Can delete set based entry',14,'delete_setbasedentry'),
(56,'Can view set based entry',14,'view_setbasedentry'),
(57,'Can add post',15,'add_post'),
(58,'Can change post',15,'change_post'),
(59,'Can delete post',15,'delete_post'),
(60,'Can view post',15,'view_post'),
(61,'Can add idempotency key',16,'add_idempotencykey'),
(62,'Can change idempotency key',16,'change_idempotencykey'),
(63,'Can delete idempotency key',16,'delete_idempotencykey'),
(64,'Can view idempotency key',16,'view_idempotencykey'),
(65,'Can add bulk entry',17,'add_bulkentry'),
(66,'Can change bulk entry',17,'change_bulkentry'),
(67,'Can delete bulk entry',17,'delete_bulkentry'),
(68,'Can view bulk entry',17,'view_bulkentry'),
(69,'Can add rowwise entry',18,'add_rowwiseentry'),
(70,'Can change rowwise entry',18,'change_rowwiseentry'),
(71,'Can delete rowwise entry',18,'delete_rowwiseentry'),
(72,'Can view rowwise entry',18,'view_rowwiseentry'),
(73,'Can add packed timeline',19,'add_packedtimeline'),
(74,'Can change packed timeline',19,'change_packedtimeline'),
(75,'Can delete packed timeline',19,'delete_packedtimeline'),
(76,'Can view packed timeline',19,'view_packedtimeline'),
(77,'Can add poison',20,'add_poison'),
(78,'Can change poison',20,'change_poison'),
(79,'Can delete poison',20,'delete_poison'),
(80,'Can view poison',20,'view_poison'),
(81,'Can add epoch',21,'add_epoch'),
(82,'Can change epoch',21,'change_epoch'),
(83,'Can delete epoch',21,'delete_epoch'),
(84,'Can view epoch',21,'view_epoch'),
(85,'Can add timeline floor',22,'add_timelinefloor'),
(86,'Can change timeline floor',22,'change_timelinefloor'),
(87,'Can delete timeline floor',22,'delete_timelinefloor'),
(88,'Can view timeline floor',22,'view_timelinefloor'),
(89,'Can add reader',23,'add_reader'),
(90,'Can change reader',23,'change_reader'),
(91,'Can delete reader',23,'delete_reader'),
(92,'Can view reader',23,'view_reader'),
(93,'Can add author change',24,'add_authorchange'),
(94,'Can change author change',24,'change_authorchange'),
(95,'Can delete author change',24,'delete_authorchange'),
(96,'Can view author change',24,'view_authorchange'),
(97,'Can add celebrity',25,'add_celebrity'),
(98,'Can change celebrity',25,'change_celebrity'),
(99,'Can delete celebrity',25,'delete_celebrity'),
(100,'Can view celebrity',25,'view_celebrity'),
(101,'Can add journal step',26,'add_journalstep'),
(102,'Can change journal step',26,'change_journalstep'),
(103,'Can delete journal step',26,'delete_journalstep'),
(104,'Can view journal step',26,'view_journalstep'),
(105,'Can add follow change',27,'add_followchange'),
(106,'Can change follow change',27,'change_followchange'),
(107,'Can delete follow change',27,'delete_followchange'),
(108,'Can view follow change',27,'view_followchange'),
(109,'Can add chunk',28,'add_chunk'),
(110,'Can change chunk',28,'change_chunk'),
(111,'Can delete chunk',28,'delete_chunk'),
(112,'Can view chunk',28,'view_chunk');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `django_content_type` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `app_label` varchar(100) NOT NULL,
  `model` varchar(100) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `django_content_type_app_label_model_76bd3d3b_uniq` (`app_label`,`model`)
) ENGINE=InnoDB AUTO_INCREMENT=29 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `django_content_type` VALUES
(10,'accounts','block'),
(13,'accounts','follow'),
(11,'accounts','friendrequest'),
(5,'accounts','group'),
(8,'accounts','limit'),
(7,'accounts','membership'),
(4,'accounts','person'),
(6,'accounts','profile'),
(9,'accounts','revocation'),
(12,'accounts','session'),
(2,'auth','group'),
(1,'auth','permission'),
(3,'contenttypes','contenttype'),
(24,'feed','authorchange'),
(17,'feed','bulkentry'),
(25,'feed','celebrity'),
(21,'feed','epoch'),
(27,'feed','followchange'),
(16,'feed','idempotencykey'),
(26,'feed','journalstep'),
(19,'feed','packedtimeline'),
(20,'feed','poison'),
(15,'feed','post'),
(23,'feed','reader'),
(18,'feed','rowwiseentry'),
(14,'feed','setbasedentry'),
(22,'feed','timelinefloor'),
(28,'workers','chunk');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `django_migrations` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `app` varchar(255) NOT NULL,
  `name` varchar(255) NOT NULL,
  `applied` datetime(6) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=37 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `django_migrations` VALUES
(1,'accounts','0001_initial','2026-11-28 10:08:09.764299'),
(2,'accounts','0002_signup','2026-11-28 10:08:09.765938'),
(3,'accounts','0003_friends_version','2026-11-28 10:08:09.767389'),
(4,'accounts','0004_guarded','2026-11-28 10:08:09.970336'),
(5,'accounts','0005_follow','2026-11-28 10:08:10.055976'),
(6,'contenttypes','0001_initial','2026-11-28 10:08:10.074900'),
(7,'contenttypes','0002_remove_content_type_name','2026-11-28 10:08:10.109197'),
(8,'auth','0001_initial','2026-11-28 10:08:10.194423'),
(9,'auth','0002_alter_permission_name_max_length','2026-11-28 10:08:10.213115'),
(10,'auth','0003_alter_user_email_max_length','2026-11-28 10:08:10.221228'),
(11,'auth','0004_alter_user_username_opts','2026-11-28 10:08:10.229098'),
(12,'auth','0005_alter_user_last_login_null','2026-11-28 10:08:10.238082'),
(13,'auth','0006_require_contenttypes_0002','2026-11-28 10:08:10.239645'),
(14,'auth','0007_alter_validators_add_error_messages','2026-11-28 10:08:10.244898'),
(15,'auth','0008_alter_user_username_max_length','2026-11-28 10:08:10.249589'),
(16,'auth','0009_alter_user_last_name_max_length','2026-11-28 10:08:10.254199'),
(17,'auth','0010_alter_group_name_max_length','2026-11-28 10:08:10.263297'),
(18,'auth','0011_update_proxy_permissions','2026-11-28 10:08:10.274816'),
(19,'auth','0012_alter_user_first_name_max_length','2026-11-28 10:08:10.284444'),
(20,'feed','0001_initial','2026-11-28 10:08:10.518869'),
(21,'feed','0002_likes','2026-11-28 10:08:10.520068'),
(22,'feed','0003_packed_timelines','2026-11-28 10:08:10.520835'),
(23,'feed','0004_poison','2026-11-28 10:08:10.550848'),
(24,'feed','0005_healing','2026-11-28 10:08:10.574246'),
(25,'feed','0006_readers','2026-11-28 10:08:10.599677'),
(26,'feed','0007_guarded','2026-11-28 10:08:10.637559'),
(27,'feed','0008_celebrities','2026-11-28 10:08:10.646584'),
(28,'feed','0009_epoch_of_several_servers','2026-11-28 10:08:10.661917'),
(29,'feed','0010_changes_of_timelines','2026-11-28 10:08:10.671829'),
(30,'feed','0011_without_likes_and_exports','2026-11-28 10:08:10.698223'),
(31,'feed','0012_indexes_of_postgresql','2026-11-28 10:08:10.721174'),
(32,'feed','0013_journal','2026-11-28 10:08:10.739565'),
(33,'feed','0014_follow_change','2026-11-28 10:08:10.765972'),
(34,'workers','0001_chunks','2026-11-28 10:08:10.801685'),
(35,'accounts','0001_squashed_0003_friends_version','2026-11-28 10:08:10.805140'),
(36,'feed','0001_squashed_0003_packed_timelines','2026-11-28 10:08:10.805966');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_authorchange` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `person_id` bigint(20) NOT NULL,
  `changed_at` datetime(6) NOT NULL DEFAULT current_timestamp(6),
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_celebrity` (
  `person_id` bigint(20) NOT NULL,
  `state` varchar(10) NOT NULL,
  `changed_at` datetime(6) NOT NULL DEFAULT current_timestamp(6),
  PRIMARY KEY (`person_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_epoch` (
  `id` smallint(5) unsigned NOT NULL CHECK (`id` >= 0),
  `number` bigint(20) NOT NULL,
  `store` varchar(64) NOT NULL,
  `server` longtext NOT NULL,
  `floor` bigint(20) NOT NULL,
  `shards` int(10) unsigned NOT NULL CHECK (`shards` >= 0),
  `closed_at` datetime(6) DEFAULT NULL,
  `active_days` int(10) unsigned NOT NULL CHECK (`active_days` >= 0),
  `changed_at` datetime(6) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `feed_epoch` VALUES
(1,2187060528,'setbased','',0,64,NULL,0,NULL);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_followchange` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `author_id` bigint(20) NOT NULL,
  `reader_id` bigint(20) NOT NULL,
  `changed_at` datetime(6) NOT NULL DEFAULT current_timestamp(6),
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_idempotencykey` (
  `key_sha256` varchar(64) NOT NULL,
  `body_sha256` varchar(64) NOT NULL,
  `author_id` bigint(20) NOT NULL,
  `post_id` bigint(20) NOT NULL,
  `created_at` datetime(6) NOT NULL DEFAULT current_timestamp(6),
  PRIMARY KEY (`author_id`,`key_sha256`),
  KEY `feed_idempotencykey_post_id_d9f6c15f_fk_feed_post_id` (`post_id`),
  KEY `feed_idempotencykey_created_at_339eadd8` (`created_at`),
  CONSTRAINT `feed_idempotencykey_author_id_ef71cf52_fk_accounts_person_id` FOREIGN KEY (`author_id`) REFERENCES `accounts_person` (`id`),
  CONSTRAINT `feed_idempotencykey_post_id_d9f6c15f_fk_feed_post_id` FOREIGN KEY (`post_id`) REFERENCES `feed_post` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `feed_idempotencykey` VALUES
('712ce3dd9ec28ecf796b86219ab955401d77ff6136ea369e882152f26da6eafc','a34f701b9a02004615e7b31d5e941ffc39eb6785b5ca0a414e70e7aa06f95b7e',1,2,'2026-11-28 10:08:12.972367'),
('ddc0a6387c49e45d37009866ba5f7478ea11c6ae5563459535acf867f83ee8be','a34f701b9a02004615e7b31d5e941ffc39eb6785b5ca0a414e70e7aa06f95b7e',2,3,'2026-11-28 10:08:12.975202'),
('19812f395df588fa9d48d300e0c75e692c5a90f600ae855aeef110a58efa4d6d','a34f701b9a02004615e7b31d5e941ffc39eb6785b5ca0a414e70e7aa06f95b7e',3,4,'2026-11-28 10:08:12.977804'),
('7bee314fad2bf4223fdfeb6d0bf130e8b99df91284cac1e8dab96e5a3c970898','a34f701b9a02004615e7b31d5e941ffc39eb6785b5ca0a414e70e7aa06f95b7e',4,5,'2026-11-28 10:08:12.980202'),
('4dd75c0fd0d2ad0a5c99b2e560d1f4f79d2d47990efaa0dfac6dee45c1d5a723','a34f701b9a02004615e7b31d5e941ffc39eb6785b5ca0a414e70e7aa06f95b7e',5,6,'2026-11-28 10:08:12.982632'),
('0aad03aa0febc5938a79100ea8270fe488d6a9cbcfdcac7ba9842462cce527e4','a34f701b9a02004615e7b31d5e941ffc39eb6785b5ca0a414e70e7aa06f95b7e',6,7,'2026-11-28 10:08:12.985226'),
('d733f591d19fe4dc9b246eb0c8025f906ad98c8be4f67ddca7f01b71035f244a','a34f701b9a02004615e7b31d5e941ffc39eb6785b5ca0a414e70e7aa06f95b7e',7,8,'2026-11-28 10:08:12.987388'),
('c9adba3c12292b6f067e08c907ded63c0833f907d2fd6e0a502e4a22f942df54','a34f701b9a02004615e7b31d5e941ffc39eb6785b5ca0a414e70e7aa06f95b7e',8,9,'2026-11-28 10:08:12.989615'),
('15c1d47965d3d455c1fa94c418078253bb739277a8532befb4c03e54eadc6f34','a34f701b9a02004615e7b31d5e941ffc39eb6785b5ca0a414e70e7aa06f95b7e',9,1,'2026-11-28 10:08:12.962380');
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_journalstep` (
  `number` bigint(20) NOT NULL,
  `nonce` bigint(20) NOT NULL,
  `news` longblob NOT NULL,
  `written_at` datetime(6) NOT NULL DEFAULT current_timestamp(6),
  PRIMARY KEY (`number`),
  KEY `feed_journalstep_written_at_cec9bac6` (`written_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_poison` (
  `post_id` bigint(20) NOT NULL,
  `failures` int(10) unsigned NOT NULL CHECK (`failures` >= 0),
  `retry_at` datetime(6) NOT NULL DEFAULT current_timestamp(6),
  `error` varchar(500) NOT NULL,
  PRIMARY KEY (`post_id`),
  CONSTRAINT `feed_poison_post_id_115996da_fk_feed_post_id` FOREIGN KEY (`post_id`) REFERENCES `feed_post` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_post` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `body` longtext NOT NULL,
  `created_at` datetime(6) NOT NULL DEFAULT current_timestamp(6),
  `delivered_at` datetime(6) DEFAULT NULL,
  `deleted_at` datetime(6) DEFAULT NULL,
  `like_count` int(10) unsigned NOT NULL CHECK (`like_count` >= 0),
  `author_id` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `post_backlog` (`delivered_at`),
  KEY `post_by_likes` (`deleted_at`,`like_count`,`id`),
  KEY `feed_post_author_id_79db3c77_fk_accounts_person_id` (`author_id`),
  CONSTRAINT `feed_post_author_id_79db3c77_fk_accounts_person_id` FOREIGN KEY (`author_id`) REFERENCES `accounts_person` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=28 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `feed_post` VALUES
(1,'text 0 ✓','2026-11-28 10:08:12.960960','2026-11-28 10:08:12.970153',NULL,0,9),
(2,'text 0 ✓','2026-11-28 10:08:12.971049','2026-11-28 10:08:12.973446',NULL,0,1),
(3,'','2026-11-28 10:08:12.974269','2026-11-28 10:08:12.976152','2026-11-28 10:08:13.321089',0,2),
(4,'text 0 ✓','2026-11-28 10:08:12.976879','2026-11-28 10:08:12.978722',NULL,0,3),
(5,'text 0 ✓','2026-11-28 10:08:12.979334','2026-11-28 10:08:12.981153',NULL,0,4),
(6,'text 0 ✓','2026-11-28 10:08:12.981819','2026-11-28 10:08:12.983552',NULL,0,5),
(7,'text 0 ✓','2026-11-28 10:08:12.984368','2026-11-28 10:08:12.986054',NULL,0,6),
(8,'text 0 ✓','2026-11-28 10:08:12.986632','2026-11-28 10:08:12.988180',NULL,0,7),
(9,'text 0 ✓','2026-11-28 10:08:12.988795','2026-11-28 10:08:12.990416',NULL,0,8),
(10,'text 1 ✓','2026-11-28 10:08:12.991560','2026-11-28 10:08:12.992386',NULL,0,9),
(11,'text 1 ✓','2026-11-28 10:08:12.992954','2026-11-28 10:08:12.993793',NULL,0,1),
(12,'text 1 ✓','2026-11-28 10:08:12.994272','2026-11-28 10:08:12.995092',NULL,0,2),
(13,'text 1 ✓','2026-11-28 10:08:12.996087','2026-11-28 10:08:12.998024',NULL,0,3),
(14,'text 1 ✓','2026-11-28 10:08:12.998656','2026-11-28 10:08:12.999562',NULL,0,4),
(15,'text 1 ✓','2026-11-28 10:08:13.001535','2026-11-28 10:08:13.003349',NULL,0,5),
(16,'text 1 ✓','2026-11-28 10:08:13.005277','2026-11-28 10:08:13.007055',NULL,0,6),
(17,'text 1 ✓','2026-11-28 10:08:13.008873','2026-11-28 10:08:13.010753',NULL,0,7),
(18,'text 1 ✓','2026-11-28 10:08:13.012375','2026-11-28 10:08:13.014250',NULL,0,8),
(19,'text 2 ✓','2026-11-28 10:08:13.017064','2026-11-28 10:08:13.018895',NULL,0,9),
(20,'text 2 ✓','2026-11-28 10:08:13.020781','2026-11-28 10:08:13.022757',NULL,0,1),
(21,'text 2 ✓','2026-11-28 10:08:13.024494','2026-11-28 10:08:13.026484',NULL,0,2),
(22,'text 2 ✓','2026-11-28 10:08:13.028344','2026-11-28 10:08:13.029693',NULL,0,3),
(23,'text 2 ✓','2026-11-28 10:08:13.030379','2026-11-28 10:08:13.031391',NULL,0,4),
(24,'text 2 ✓','2026-11-28 10:08:13.031997','2026-11-28 10:08:13.032970',NULL,0,5),
(25,'text 2 ✓','2026-11-28 10:08:13.033544','2026-11-28 10:08:13.034534',NULL,0,6),
(26,'text 2 ✓','2026-11-28 10:08:13.035152','2026-11-28 10:08:13.036354',NULL,0,7),
(27,'text 2 ✓','2026-11-28 10:08:13.038137','2026-11-28 10:08:13.040208',NULL,0,8);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_reader` (
  `person_id` bigint(20) NOT NULL,
  `read_on` date NOT NULL,
  `is_returning` tinyint(1) NOT NULL,
  PRIMARY KEY (`person_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_timeline_bulk` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `body` longtext NOT NULL,
  `owner_id` bigint(20) NOT NULL,
  `post_id` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `bulkentry_delivered_once` (`owner_id`,`post_id`),
  KEY `feed_timeline_bulk_post_id_51f6aa40_fk_feed_post_id` (`post_id`),
  CONSTRAINT `feed_timeline_bulk_owner_id_24fdf97e_fk_accounts_person_id` FOREIGN KEY (`owner_id`) REFERENCES `accounts_person` (`id`),
  CONSTRAINT `feed_timeline_bulk_post_id_51f6aa40_fk_feed_post_id` FOREIGN KEY (`post_id`) REFERENCES `feed_post` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=124 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `feed_timeline_bulk` VALUES
(1,'text 0 ✓',9,1),
(2,'text 0 ✓',1,2),
(3,'text 0 ✓',2,2),
(4,'text 0 ✓',3,2),
(5,'text 0 ✓',7,2),
(6,'text 0 ✓',8,2),
(7,'text 0 ✓',2,3),
(8,'text 0 ✓',1,3),
(9,'text 0 ✓',3,3),
(10,'text 0 ✓',4,3),
(11,'text 0 ✓',8,3),
(12,'text 0 ✓',3,4),
(13,'text 0 ✓',1,4),
(14,'text 0 ✓',2,4),
(15,'text 0 ✓',4,4),
(16,'text 0 ✓',5,4),
(17,'text 0 ✓',4,5),
(18,'text 0 ✓',2,5),
(19,'text 0 ✓',3,5),
(20,'text 0 ✓',5,5),
(21,'text 0 ✓',6,5),
(22,'text 0 ✓',5,6),
(23,'text 0 ✓',3,6),
(24,'text 0 ✓',4,6),
(25,'text 0 ✓',6,6),
(26,'text 0 ✓',7,6),
(27,'text 0 ✓',6,7),
(28,'text 0 ✓',4,7),
(29,'text 0 ✓',5,7),
(30,'text 0 ✓',7,7),
(31,'text 0 ✓',8,7),
(32,'text 0 ✓',7,8),
(33,'text 0 ✓',1,8),
(34,'text 0 ✓',5,8),
(35,'text 0 ✓',6,8),
(36,'text 0 ✓',8,8),
(37,'text 0 ✓',8,9),
(38,'text 0 ✓',1,9),
(39,'text 0 ✓',2,9),
(40,'text 0 ✓',6,9),
(41,'text 0 ✓',7,9),
(42,'text 1 ✓',9,10),
(43,'text 1 ✓',1,11),
(44,'text 1 ✓',2,11),
(45,'text 1 ✓',3,11),
(46,'text 1 ✓',7,11),
(47,'text 1 ✓',8,11),
(48,'text 1 ✓',2,12),
(49,'text 1 ✓',1,12),
(50,'text 1 ✓',3,12),
(51,'text 1 ✓',4,12),
(52,'text 1 ✓',8,12),
(53,'text 1 ✓',3,13),
(54,'text 1 ✓',1,13),
(55,'text 1 ✓',2,13),
(56,'text 1 ✓',4,13),
(57,'text 1 ✓',5,13),
(58,'text 1 ✓',4,14),
(59,'text 1 ✓',2,14),
(60,'text 1 ✓',3,14),
(61,'text 1 ✓',5,14),
(62,'text 1 ✓',6,14),
(63,'text 1 ✓',5,15),
(64,'text 1 ✓',3,15),
(65,'text 1 ✓',4,15),
(66,'text 1 ✓',6,15),
(67,'text 1 ✓',7,15),
(68,'text 1 ✓',6,16),
(69,'text 1 ✓',4,16),
(70,'text 1 ✓',5,16),
(71,'text 1 ✓',7,16),
(72,'text 1 ✓',8,16),
(73,'text 1 ✓',7,17),
(74,'text 1 ✓',1,17),
(75,'text 1 ✓',5,17),
(76,'text 1 ✓',6,17),
(77,'text 1 ✓',8,17),
(78,'text 1 ✓',8,18),
(79,'text 1 ✓',1,18),
(80,'text 1 ✓',2,18),
(81,'text 1 ✓',6,18),
(82,'text 1 ✓',7,18),
(83,'text 2 ✓',9,19),
(84,'text 2 ✓',1,20),
(85,'text 2 ✓',2,20),
(86,'text 2 ✓',3,20),
(87,'text 2 ✓',7,20),
(88,'text 2 ✓',8,20),
(89,'text 2 ✓',2,21),
(90,'text 2 ✓',1,21),
(91,'text 2 ✓',3,21),
(92,'text 2 ✓',4,21),
(93,'text 2 ✓',8,21),
(94,'text 2 ✓',3,22),
(95,'text 2 ✓',1,22),
(96,'text 2 ✓',2,22),
(97,'text 2 ✓',4,22),
(98,'text 2 ✓',5,22),
(99,'text 2 ✓',4,23),
(100,'text 2 ✓',2,23),
(101,'text 2 ✓',3,23),
(102,'text 2 ✓',5,23),
(103,'text 2 ✓',6,23),
(104,'text 2 ✓',5,24),
(105,'text 2 ✓',3,24),
(106,'text 2 ✓',4,24),
(107,'text 2 ✓',6,24),
(108,'text 2 ✓',7,24),
(109,'text 2 ✓',6,25),
(110,'text 2 ✓',4,25),
(111,'text 2 ✓',5,25),
(112,'text 2 ✓',7,25),
(113,'text 2 ✓',8,25),
(114,'text 2 ✓',7,26),
(115,'text 2 ✓',1,26),
(116,'text 2 ✓',5,26),
(117,'text 2 ✓',6,26),
(118,'text 2 ✓',8,26),
(119,'text 2 ✓',8,27),
(120,'text 2 ✓',1,27),
(121,'text 2 ✓',2,27),
(122,'text 2 ✓',6,27),
(123,'text 2 ✓',7,27);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_timeline_floor` (
  `owner_id` bigint(20) NOT NULL,
  `floor` bigint(20) NOT NULL,
  PRIMARY KEY (`owner_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_timeline_packed` (
  `owner_id` bigint(20) NOT NULL,
  `post_ids` longblob NOT NULL,
  PRIMARY KEY (`owner_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `feed_timeline_packed` VALUES
(1,0xC74CC338FA971B00000000801B0000000080),
(2,0xD325A7E847981B00000000801B0000000080),
(3,0x3A20FDC2E9801B00000000801B0000000080),
(4,0xB920F12AC6BF1B00000000801B0000000080),
(5,0x367FD7F086831B00000000801B0000000080),
(6,0x710F724AE1B81B00000000801B0000000080),
(7,0xDF2B566E4C921B00000000801B0000000080),
(8,0x8374D062BAB71B00000000801B0000000080),
(9,0x26E392CE13991B00000000801B0000000080);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_timeline_rowwise` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `body` longtext NOT NULL,
  `owner_id` bigint(20) NOT NULL,
  `post_id` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `rowwiseentry_delivered_once` (`owner_id`,`post_id`),
  KEY `feed_timeline_rowwise_post_id_d98be9b4_fk_feed_post_id` (`post_id`),
  CONSTRAINT `feed_timeline_rowwise_owner_id_10216d0f_fk_accounts_person_id` FOREIGN KEY (`owner_id`) REFERENCES `accounts_person` (`id`),
  CONSTRAINT `feed_timeline_rowwise_post_id_d98be9b4_fk_feed_post_id` FOREIGN KEY (`post_id`) REFERENCES `feed_post` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=124 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `feed_timeline_rowwise` VALUES
(1,'text 0 ✓',9,1),
(2,'text 0 ✓',1,2),
(3,'text 0 ✓',2,2),
(4,'text 0 ✓',3,2),
(5,'text 0 ✓',7,2),
(6,'text 0 ✓',8,2),
(7,'text 0 ✓',2,3),
(8,'text 0 ✓',1,3),
(9,'text 0 ✓',3,3),
(10,'text 0 ✓',4,3),
(11,'text 0 ✓',8,3),
(12,'text 0 ✓',3,4),
(13,'text 0 ✓',1,4),
(14,'text 0 ✓',2,4),
(15,'text 0 ✓',4,4),
(16,'text 0 ✓',5,4),
(17,'text 0 ✓',4,5),
(18,'text 0 ✓',2,5),
(19,'text 0 ✓',3,5),
(20,'text 0 ✓',5,5),
(21,'text 0 ✓',6,5),
(22,'text 0 ✓',5,6),
(23,'text 0 ✓',3,6),
(24,'text 0 ✓',4,6),
(25,'text 0 ✓',6,6),
(26,'text 0 ✓',7,6),
(27,'text 0 ✓',6,7),
(28,'text 0 ✓',4,7),
(29,'text 0 ✓',5,7),
(30,'text 0 ✓',7,7),
(31,'text 0 ✓',8,7),
(32,'text 0 ✓',7,8),
(33,'text 0 ✓',1,8),
(34,'text 0 ✓',5,8),
(35,'text 0 ✓',6,8),
(36,'text 0 ✓',8,8),
(37,'text 0 ✓',8,9),
(38,'text 0 ✓',1,9),
(39,'text 0 ✓',2,9),
(40,'text 0 ✓',6,9),
(41,'text 0 ✓',7,9),
(42,'text 1 ✓',9,10),
(43,'text 1 ✓',1,11),
(44,'text 1 ✓',2,11),
(45,'text 1 ✓',3,11),
(46,'text 1 ✓',7,11),
(47,'text 1 ✓',8,11),
(48,'text 1 ✓',2,12),
(49,'text 1 ✓',1,12),
(50,'text 1 ✓',3,12),
(51,'text 1 ✓',4,12),
(52,'text 1 ✓',8,12),
(53,'text 1 ✓',3,13),
(54,'text 1 ✓',1,13),
(55,'text 1 ✓',2,13),
(56,'text 1 ✓',4,13),
(57,'text 1 ✓',5,13),
(58,'text 1 ✓',4,14),
(59,'text 1 ✓',2,14),
(60,'text 1 ✓',3,14),
(61,'text 1 ✓',5,14),
(62,'text 1 ✓',6,14),
(63,'text 1 ✓',5,15),
(64,'text 1 ✓',3,15),
(65,'text 1 ✓',4,15),
(66,'text 1 ✓',6,15),
(67,'text 1 ✓',7,15),
(68,'text 1 ✓',6,16),
(69,'text 1 ✓',4,16),
(70,'text 1 ✓',5,16),
(71,'text 1 ✓',7,16),
(72,'text 1 ✓',8,16),
(73,'text 1 ✓',7,17),
(74,'text 1 ✓',1,17),
(75,'text 1 ✓',5,17),
(76,'text 1 ✓',6,17),
(77,'text 1 ✓',8,17),
(78,'text 1 ✓',8,18),
(79,'text 1 ✓',1,18),
(80,'text 1 ✓',2,18),
(81,'text 1 ✓',6,18),
(82,'text 1 ✓',7,18),
(83,'text 2 ✓',9,19),
(84,'text 2 ✓',1,20),
(85,'text 2 ✓',2,20),
(86,'text 2 ✓',3,20),
(87,'text 2 ✓',7,20),
(88,'text 2 ✓',8,20),
(89,'text 2 ✓',2,21),
(90,'text 2 ✓',1,21),
(91,'text 2 ✓',3,21),
(92,'text 2 ✓',4,21),
(93,'text 2 ✓',8,21),
(94,'text 2 ✓',3,22),
(95,'text 2 ✓',1,22),
(96,'text 2 ✓',2,22),
(97,'text 2 ✓',4,22),
(98,'text 2 ✓',5,22),
(99,'text 2 ✓',4,23),
(100,'text 2 ✓',2,23),
(101,'text 2 ✓',3,23),
(102,'text 2 ✓',5,23),
(103,'text 2 ✓',6,23),
(104,'text 2 ✓',5,24),
(105,'text 2 ✓',3,24),
(106,'text 2 ✓',4,24),
(107,'text 2 ✓',6,24),
(108,'text 2 ✓',7,24),
(109,'text 2 ✓',6,25),
(110,'text 2 ✓',4,25),
(111,'text 2 ✓',5,25),
(112,'text 2 ✓',7,25),
(113,'text 2 ✓',8,25),
(114,'text 2 ✓',7,26),
(115,'text 2 ✓',1,26),
(116,'text 2 ✓',5,26),
(117,'text 2 ✓',6,26),
(118,'text 2 ✓',8,26),
(119,'text 2 ✓',8,27),
(120,'text 2 ✓',1,27),
(121,'text 2 ✓',2,27),
(122,'text 2 ✓',6,27),
(123,'text 2 ✓',7,27);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `feed_timeline_setbased` (
  `owner_id` bigint(20) NOT NULL,
  `post_id` bigint(20) NOT NULL,
  PRIMARY KEY (`owner_id`,`post_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
INSERT INTO `feed_timeline_setbased` VALUES
(1,2),
(1,3),
(1,4),
(1,8),
(1,9),
(1,11),
(1,12),
(1,13),
(1,17),
(1,18),
(1,20),
(1,21),
(1,22),
(1,26),
(1,27),
(2,2),
(2,3),
(2,4),
(2,5),
(2,9),
(2,11),
(2,12),
(2,13),
(2,14),
(2,18),
(2,20),
(2,21),
(2,22),
(2,23),
(2,27),
(3,2),
(3,3),
(3,4),
(3,5),
(3,6),
(3,11),
(3,12),
(3,13),
(3,14),
(3,15),
(3,20),
(3,21),
(3,22),
(3,23),
(3,24),
(4,3),
(4,4),
(4,5),
(4,6),
(4,7),
(4,12),
(4,13),
(4,14),
(4,15),
(4,16),
(4,21),
(4,22),
(4,23),
(4,24),
(4,25),
(5,4),
(5,5),
(5,6),
(5,7),
(5,8),
(5,13),
(5,14),
(5,15),
(5,16),
(5,17),
(5,22),
(5,23),
(5,24),
(5,25),
(5,26),
(6,5),
(6,6),
(6,7),
(6,8),
(6,9),
(6,14),
(6,15),
(6,16),
(6,17),
(6,18),
(6,23),
(6,24),
(6,25),
(6,26),
(6,27),
(7,2),
(7,6),
(7,7),
(7,8),
(7,9),
(7,11),
(7,15),
(7,16),
(7,17),
(7,18),
(7,20),
(7,24),
(7,25),
(7,26),
(7,27),
(8,2),
(8,3),
(8,7),
(8,8),
(8,9),
(8,11),
(8,12),
(8,16),
(8,17),
(8,18),
(8,20),
(8,21),
(8,25),
(8,26),
(8,27),
(9,1),
(9,10),
(9,19);
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `workers_chunk` (
  `number` int(10) unsigned NOT NULL CHECK (`number` >= 0),
  `post_id` bigint(20) NOT NULL,
  PRIMARY KEY (`post_id`,`number`),
  CONSTRAINT `workers_chunk_post_id_f2cbfbf3_fk_feed_post_id` FOREIGN KEY (`post_id`) REFERENCES `feed_post` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
