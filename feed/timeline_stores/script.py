from feed.timeline_stores.scripted import Script as LuaScript
from feed.timeline_stores.scripted import ScriptedStore
from feed.timeline_stores.sortedset import SortedSetStore


class Script(ScriptedStore, SortedSetStore):
    """The sorted sets of ``roundtrip``, each written by one ZADD per batch inside the server."""

    script = LuaScript("script.lua")
