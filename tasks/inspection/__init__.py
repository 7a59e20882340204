"""The inspection of a power line from the air, from raw measurements to a report.

A helicopter flies along the line. A laser scanner measures distances, GPS tells where it is and an
inertial unit how it is turned. What comes of it goes through six programs, each a process of its
own that reads files and leaves files:

    raw folder -> import -> georeferencing -> segmentation -> anomaly_detection -> aggregation -> report

======================  ========================================================================
``conversation``        the lines between a program and the node that runs it
``raw_scan``            the scanner's own file: blocks of counts, each with its check sum
``scan``, ``track``     the same in metres and radians, and the way of the helicopter
``las``                 points in the LAS 1.2 format (ASPRS), as other programs read them too
``terrain``, ``wires``  the ground below the points, and the wires among them
``points_of_interest``  what a person has to look at, as a table
``survey``              makes raw measurements of a landscape with known faults, from a seed
======================  ========================================================================

Each program is small and computes what it says; none is a timed stand-in. They need nothing but
Python. The landscape that ``survey`` makes is simpler than a real one: wires, ground and vegetation,
no towers, no buildings, nothing hidden behind anything.
"""
