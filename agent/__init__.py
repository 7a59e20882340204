"""The agent: one node of a flock, without its windows.

Nothing is imported here, so that `import agent` costs nothing and a part that needs only one
package of the agent loads only that one.
"""

__version__ = "0.1.0"
