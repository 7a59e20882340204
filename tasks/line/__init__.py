"""The inspection of a real line, from what operators bring home to what the report tells.

======================  ========================================================================
``las_header``          what a LAS or LAZ file says of itself, held against its size
``laz_chunks``          how its points are compressed, held against the file
``cloud``               the one way in which points are read and written, in bounded chunks
``crs``                 reference systems, horizontal and vertical, and the way between two
``trajectory``          the way of the aircraft: SBET, RTKLIB .pos, NMEA, GPX
``routes``              the route of the line, from a map or from what was flown
``video``, ``marks``    what was filmed when and where, and what the operator marked
``photographs``         where photographs were taken; ``shots``: small pictures of a tile
``terrain``             heights of a map below a tile
``tiles``               the plan: route, reference system, scans, tiles of 400 m
``plan``                makes the plan from the folder of a flight, and its ``workflow``
``importing``           a tile's points, way and index out of a flight
``georeferencing``      points of the scanner's frame to their place; quality per second
``segmenting``          the classes of a tile's points, and its wires and towers as curves
``scene``               what is what among points: all of the following together
``ground``, ``water``   the terrain, what lies on it, what is level and lower than its banks
``wire_seeds``          points that others line up with
``wire_growth``         pieces of wire that grow from these and are joined
``wires``, ``curve``    which of them are wires; plan line and catenary
``course``              where a wire really goes, the same in every tile that sees it
``wire_points``         which points are on them, those of wires beside them too
``towers``              what stands where wires end
``shapes``, ``roofs``   what surroundings look like, and which of them are a building's
``spans``               wires and towers as a file
``detecting``           what comes near to the wires of a tile: ``obstacles``, ``interest``
``patching``            what a person changes of the classes of a tile; ``handed_in`` reads tables
``deciding``            what a person decides about points of interest
``aggregating``         all tiles as one line: ``joining``; ranked by two ``tables``
``corridor``            what lies below and beside the wires of a tile, for the profiles
``overview``            a tile at a glance, for whoever is asked about it
``annotations``         notes that people write, and how they find their point again
``reporting``           the report, of ``facts`` span by span (``sections``): ``content`` and
                        ``provenance`` say what, ``album`` has its pictures, ``page`` and ``sheets`` write it as HTML and PDF,
                        ``exchange`` for other programs; ``figures`` and ``span_figures`` are its
                        maps, made of a ``drawing``
``parameters``          every number by which a scene is read
======================  ========================================================================

What comes from outside is looked at before a library sees it, and what cannot be right ends in one
sentence: what was found, what was expected, what to do. What can be lived with is counted and told
in the report. Nothing holds a whole line in memory.

Points are columns (``cloud.Points``). Their classes are those of the LAS standard:

==  ===================
 2  ground
 3  low vegetation
 4  vegetation
 5  high vegetation
 6  building
 9  water
14  wire
15  tower
==  ===================

A road stays ground: no labelled one was at hand to measure on, so 11 is given to nothing.

Places are metres in the reference system of the file, which it names; what is in degrees or feet
is turned into metres by the import and nowhere else.

Everything here needs the extra ``wingbeat[inspection]``. The demo's made landscape, which needs
nothing but Python, is ``tasks.inspection``; of that only ``conversation``, the lines between a
program and its node, is used here.
"""
