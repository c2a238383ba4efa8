from feed.timelines.scripted import Script as LuaScript
from feed.timelines.scripted import ScriptedTimeline
from feed.timelines.sortedset import SortedSetTimeline


class Script(ScriptedTimeline, SortedSetTimeline):
    """The sorted sets of ``roundtrip``, each written by one ZADD a batch inside the server."""

    script = LuaScript("script.lua")
