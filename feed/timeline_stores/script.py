from feed.timeline_stores.scripted import Script as LuaScript
from feed.timeline_stores.scripted import ScriptedStore
from feed.timeline_stores.sortedset import SortedSetStore


class Script(ScriptedStore, SortedSetStore):
    """The sorted sets of ``roundtrip``, written by a script: one ZADD per timeline and batch."""

    script = LuaScript("script.lua")
