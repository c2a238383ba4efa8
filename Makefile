# Everything Python lives in .venv/; the targets make it when it is missing or out of date.
PYTHON := .venv/bin/python
VARIANTS := sqlite-inline-rowwise,sqlite-inline-setbased,sqlite-outbox-setbased
DEMO_RUN_TIME := 20s

.PHONY: setup demo test lint serve
setup: .venv/ready

.venv/ready: requirements.txt requirements-dev.txt bootstrap.sh
	sh bootstrap.sh
	touch $@

demo: setup ## the main job: three variants at 500 users, compared with the published figures
	rm -rf results/demo
	$(PYTHON) -m lab run fanout --variants $(VARIANTS) --run-time $(DEMO_RUN_TIME) --out results/demo

test: setup
	$(PYTHON) -m pytest

lint: setup
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy .
	$(PYTHON) manage.py makemigrations --check --dry-run

serve: setup ## a seeded service on port 8000, for locust -f locustfiles/fanout.py
	$(PYTHON) -m lab up sqlite-outbox-setbased
