# The Python environment is .venv/; targets create it if it is missing or out of date.
PYTHON := .venv/bin/python
VARIANTS := sqlite-inline-rowwise,sqlite-inline-setbased,sqlite-outbox-setbased
DEMO_RUN_TIME := 20s
REPLAYS := DJANGO_SETTINGS_MODULE=tests.replays.settings
TIMELINE_TESTS := $(patsubst %,tests/feed/test_%.py,timeline_stores trimmed_stores log_store healing readers people celebrities strategies)
# A test runs on MariaDB and PostgreSQL too if its SQL or its locks could differ; these ask a Redis, or nobody.
NOT_ON_SERVERS := redis_cluster redis_stores log_store healing_exhaustively shards compare home api_routes api_bad_input published_stores
SERVER_TESTS := $(patsubst %,tests/accounts/test_%.py,follows limits log_in_limits seed_people sessions signup usernames) $(patsubst %,tests/db/test_%.py,mysql outcomes postgresql remote) tests/docs/test_carry_it.py tests/feed tests/workers $(patsubst %,--ignore=tests/feed/test_%.py,$(NOT_ON_SERVERS))

.PHONY: help setup servers mysql k6 demo test test-fast test-mysql test-k6 test-containers format lint lock size serve
help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "%-15s %s\n", $$1, $$2}'

setup: .venv/ready ## create the Python environment in .venv/

.venv/ready: requirements.txt workers/queues/requirements.txt requirements-dev.txt lab/requirements.txt replays/requirements.txt constraints.txt bootstrap.sh
	sh bootstrap.sh
	touch $@

ifdef FULL
VARIANTS := $(VARIANTS),mysql_tuned-inline-setbased,mysql_tuned-outbox-setbased,postgres_tuned-outbox-setbased
demo: servers
endif
demo: setup ## compare three variants at 500 users with the published figures
	rm -rf results/demo
	$(PYTHON) -m lab run fanout --variants $(VARIANTS) --run-time $(DEMO_RUN_TIME) --out results/demo || [ $$? = 3 ] # 3: only the figures are not sound
	@echo "Watch two variants live, and break them: $(PYTHON) -m lab live"

servers: ## install databases, brokers, proxies, Prometheus and Chromium from the distribution
	sh bootstrap.sh servers

mysql: ## unpack MySQL and Valkey of Debian unstable in .mysql/, without root
	sh bootstrap.sh mysql

test-fast: setup ## run the tests without processes, and without servers but Redis; in up to 3 minutes
	$(PYTHON) -m pytest -q -n 2 -m "not alone and not servers" tests/accounts tests/bench tests/feed tests/runtime tests/workers

test: setup servers ## run every test; 20 to 35 minutes on two cores
	$(PYTHON) -m pytest -n 5 --dist loadfile --no-loadscope-reorder -m "not alone and not faults"
	$(REPLAYS) $(PYTHON) -m pytest -n 4 --dist loadfile --no-loadscope-reorder tests/replays tests/web/test_access.py tests/web/test_schema.py
	$(REPLAYS) $(PYTHON) -m tests.with_database mysql $(PYTHON) -m pytest -n 2 tests/replays
	$(PYTHON) -m tests.with_database mysql $(PYTHON) -m pytest -n 3 $(SERVER_TESTS)
	$(PYTHON) -m tests.with_database postgres $(PYTHON) -m pytest -n 3 $(SERVER_TESTS)
	FEED_EDGES=follows TIMELINES=cluster3 $(PYTHON) -m pytest -n 3 $(TIMELINE_TESTS)
	$(PYTHON) -m pytest -n 3 -m faults tests/compose tests/system
	$(PYTHON) -m pytest -n 2 -m "alone and not k6" tests/lab tests/locustfiles

k6: ## build k6 with Go in a few minutes, unless K6 or the PATH has it
	command -v "$${K6:-k6}" || [ -x var/bin/k6 ] || sh bootstrap.sh k6

test-k6: setup k6 ## compare the k6 script with Locust on one service
	$(PYTHON) -m pytest -m k6

test-mysql: setup mysql ## run the contract tests on MySQL; make test uses MariaDB if installed
	LAB_MYSQL=mysql $(PYTHON) -m tests.with_database mysql $(PYTHON) -m pytest -n 2 $(SERVER_TESTS) tests/launch/test_mysql.py

test-containers: setup ## run compose/ on a Docker engine of its own: Debian, root, 30 minutes or more
	sh bootstrap.sh containers
	sh tests/containers/engine.sh $(PYTHON) -m pytest -s -m containers tests/containers

format: setup ## format the code and fix what the linter can fix
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

lock: setup ## pin the packages of .venv/ in constraints.txt
	$(PYTHON) -m pip freeze > constraints.txt

lint: setup ## check style, types, migrations and imports between packages
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy .
	.venv/bin/lint-imports
	$(PYTHON) manage.py makemigrations --check --dry-run
	$(REPLAYS) $(PYTHON) manage.py makemigrations --check --dry-run

size: ## lines of code per part; CONTRIBUTING.md has the budgets
	@for part in "service accounts config db feed metrics runtime stream web workers" "laboratory lab launch bench" "locustfiles locustfiles" "replays replays" "tests tests"; do \
		set -- $$part; name=$$1; shift; \
		printf '%-12s %6d\n' $$name $$(git ls-files $$* | grep -E '\.(py|lua|sh|html|js)$$' | xargs -r cat | wc -l); \
	done

serve: setup ## serve a seeded service on port 8000, for locust -f locustfiles/fanout.py
	$(PYTHON) -m lab up sqlite-outbox-setbased
