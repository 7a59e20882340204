"""Every number by which a scene is read, in one place, so that they are frozen together.

None is for a place, a file or a kind of line. Lengths are metres; what depends on the density of the
scan says how. Counts are of points thinned to one in each cube of ``THIN_M``: so a dense scan and a
sparse one look alike, as far as a sparse one can.
"""

from __future__ import annotations

from typing import Final

# Ground

CELL_M: Final = 1.0
SPARSE_CELL_M: Final = 2.0
"""Where there is less than a point on a square metre."""
BUILDING_M_MAX: Final = 30.0
"""Half the width of the widest building under which the ground is looked for."""
SLOPE_MAX: Final = 0.3
STEP_M_MIN: Final = 0.15
PIT_M: Final = 1.5
"""So deep below what is around it, a point is an error of the scanner."""
GROUND_M: Final = 0.25
"""So far from the terrain a point is ground; more where it is steep."""

# Where wires may begin

THIN_M: Final = 0.5
WIRE_HEIGHT_M_MIN: Final = 2.5
SEED_REACH_M: Final = 7.0
SEED_NEIGHBOURS: Final = 24
SEED_TUBE_M: Final = 0.4
SEED_SLOPE_MAX: Final = 0.6
SEED_LENGTH_M_MIN: Final = 4.0
SEED_LENGTH_M_FULL: Final = 8.0
SEED_SCORE_MIN: Final = 1.6
"""Of some thousand seeds in woods nine of ten score less; of those that became a wire none did."""
SEED_SCORE_TOLD: Final = 1.0
"""Within ``SEED_REACH_M`` of what scores so much all others are tried as well."""
CROWD_M: Final = 1.5
CROWD_MAX: Final = 30
"""More than the wires of a pole fill within ``CROWD_M``: what is denser starts no wire."""
CROWD_LONE: Final = 2
CROWD_FEW: Final = 8
CROWDED_EACH: Final = 3
"""Where there are more than a few, one of so many may start one; a wire has enough of them. Of
the few that are not alone one of so many is tried first."""

# How they grow

SAG_MAX: Final = 0.012
"""Half the curvature in 1/m: a slack street wire. A high-voltage conductor has 0.0003."""
SAG_MIN: Final = -0.0002
SWING_MAX: Final = 0.0006
"""The same sideways: what wind does to a conductor."""
TUBE_M: Final = (0.22, 0.45)
"""So far off what a curve reaches is still its own; less where its points lie close to it."""
STRAIGHT_M_MAX: Final = 14.0
"""A shorter piece does not tell how it sags; from here on a parabola, later a catenary."""
SWING_M_MIN: Final = 40.0
CATENARY_M_MIN: Final = 60.0
SHELL_M: Final = (0.7, 2.0)
"""What lies between is beside the wire, and by that a wire is told from an edge or a crown."""
BIN_M: Final = 2.0
LOCAL_M: Final = 14.0
"""A seed grows within this first: what is not a wire here is none further on."""
LOCAL_M_MIN: Final = 8.0
LOCAL_CLEAN: Final = 0.6
LOCAL_RESIDUAL_M_MAX: Final = 0.3
PIECE_M_MIN: Final = 10.0
RESIDUAL_M_MAX: Final = 0.35
GAP_M: Final = (5.0, 15.0)
"""Eight times the usual distance between points ends a wire, within these bounds."""
GAP_USUAL: Final = 8.0
CLEAN_SHARE: Final = 0.4
CLEAN_M_ALONE: Final = 40.0
JOIN_GAP_M: Final = (20.0, 60.0)
JOIN_OFF_M: Final = 0.5
JOIN_OFF_EACH_M: Final = 0.012

# Which curves are wires

SURE_M_MIN: Final = 30.0
"""A wire that needs no other beside it: so long, and so much of it with nothing around."""
SURE_CLEAN: Final = 0.75
SURE_M_LONG: Final = 80.0
SURE_CLEAN_LONG: Final = 0.5
SOLID_M: Final = (2.0, 4.0)
SOLID_SHARE_MAX: Final = (0.3, 0.7)
"""A gutter, a railing, a ledge: more of it than the first share is so near to a building; of what is
higher than any street wire no more than the second is within the second distance."""
SOLID_HIGH_M: Final = 10.0
USUAL_M_MIN: Final = 4.0
LOWEST_M_MIN: Final = 3.0
"""No wire hangs lower above the ground, half of it; a tenth of it. Any rule asks for more."""
STANDING_M_MAX: Final = 6.0
STANDING_SHARE_MAX: Final = 0.4
STANDING_BIN_M: Final = 5.0
STANDING_ASIDE_M: Final = 0.6
STANDING_FILLED: Final = 0.7
"""The top of a fence: so low, and on more than this share of its length most of each metre below it
down to the ground has points. Higher there are shells of leaves around it, and those are seen."""
COMPANY_ASIDE_M: Final = 15.0
COMPANY_BEYOND_M: Final = 60.0
COMPANY_UP_M: Final = 15.0
COMPANY_TURN: Final = 0.07
"""A short piece is a wire beside or beyond a sure one: so far, and turned by no more radians."""
COMPANY_END_M: Final = 8.0
"""Or its end is so near to the end of a sure one that both hang on one tower."""

# Wires that are too sparse to begin by themselves

MISSED_WINDOW_M: Final = 80.0
MISSED_REACH_M: Final = 15.0
MISSED_CELL_M: Final = 0.5
MISSED_CROWD_MAX: Final = 8
"""A wire too sparse to begin has few others around each of its points; leaves have many."""
MISSED_POINTS_MIN: Final = 4
MISSED_SPREAD_M: Final = 40.0
MISSED_GAP_M: Final = 45.0

# Which points are on them

WIRE_M: Final = (0.3, 0.6)
WIRE_RESIDUALS: Final = 2.5
TOUCHED_M_MIN: Final = 0.2
TOUCHED_RESIDUALS: Final = 1.5
BEYOND_M: Final = 1.0
REST_M: Final = 2.2
"""The other wires of a pole hang so near to the one that was found, and sag with it."""
REST_ALONG_M: Final = 3.5
REST_TUBE_M: Final = 0.15
REST_AROUND_M: Final = 1.0
REST_CLOSE_M: Final = 0.6
REST_POINTS_MIN: Final = 4
REST_SHARE_MIN: Final = 0.2
"""A point there is wire if so many others lie before and behind it in a thin tube, and so much of
all that is around: five wires side by side have that, leaves do not."""
REST_SLOPES: Final = (-0.16, -0.08, 0.0, 0.08, 0.16)
"""Against the wire that was found: where two spans meet, a slack wire bends."""

# Where they really go

COURSE_M: Final = 20.0
"""So far around a place the course of a wire follows its points there."""
COURSE_BEYOND_M: Final = 5.0
COURSE_STEP_M: Final = 2.0
COURSE_WIDE_M: Final = 0.8
"""Nothing farther off draws it aside, and what is nearly as far hardly."""
COURSE_OWN_M: Final = 0.5
"""What is nearer tells how far the points of a wire scatter."""
COURSE_POINTS_MIN: Final = 6

# What is not wire

CUBE_M: Final = 0.7
WIDE_CUBE_M: Final = 1.6
TALL_M: Final = 1.8
FLAT_M: Final = 0.15
ROOF_WINDOW: Final = 7
ROOF_OWN: Final = 0.3
"""How much a place counts itself, the rest is what is within so many cells around it."""
ROOF_ECHOES: Final = 0.3
"""How much is believed to what was learned with echoes, the rest to what was learned without: old
scanners have few, and fewer echoes do not make a tree a roof."""
ROOF_M_MIN: Final = 0.5
LOW_M_MAX: Final = 0.5
MEDIUM_M_MAX: Final = 1.5
"""Vegetation is low, medium, high, as in the French and the Australian scans that were learned from."""

# Towers

SITE_M: Final = 12.0
"""Ends of wires so near to each other hang on one tower."""
PASSED_M: Final = 15.0
"""A wire that goes on for so long on both sides passes, and does not hang there."""
SITE_STEP_M: Final = 2.0
SITE_FILLED_MIN: Final = 0.6
"""Of the height between the ground and the wires, where a tower has to show points."""
SITE_FOOT_M: Final = 2.0
SITE_UP_M: Final = 1.5
SITE_UP_POINTS_MIN: Final = 2
"""A tower carries its wires: it has points so little below the lowest of them, or above. A tree that
a wire seems to end at has none."""
EDGE_M: Final = 3.0
"""Where nothing was measured so far behind the ends of wires the scan ends and not they."""
BODY_M: Final = 1.0
BODY_WIDENS: Final = 0.06
ARM_BEYOND_M: Final = 2.5
ARM_BELOW_M: Final = 3.5
ARM_DEEP_M: Final = 2.4
TOP_M: Final = 6.0
ZONE_M: Final = (0.4, 1.6)
"""How near to the middle of a tower what lies on a wire belongs to the tower: its arm, its insulators."""
CORE_M: Final = 3.0
RING_M: Final = 7.0
RING_MAX: Final = 1.5
"""More points around than within is a wood."""

# Water

WATER_ROUGH_M: Final = 0.05
WATER_M2_MIN: Final = 150.0
WATER_SHARE_MAX: Final = 0.9
"""A tile that is nothing but level tells of no banks."""
WATER_LEVEL_M: Final = 0.008
"""Water is level: its height differs by no more from place to place. The flattest field does."""
WATER_LOWER_SHARE: Final = 0.05
"""Nothing lies lower around it."""
WATER_STEP_M: Final = 0.12
WATER_BESIDE_M: Final = 0.08
"""What is so near to its level and next to it is its edge."""

# What is said of a tile

SPARSE_POINTS_M2: Final = 2.0
SPARSE_SEEN_MIN: Final = 0.6
"""With fewer points, and wires not found or seen on less of their length, it is too sparse to tell."""
NOISE_BELOW_M: Final = 1.5
SCENE_POINTS_MIN: Final = 50
ROOF_LIKELY: Final = 0.5

# Points of interest

WITHIN_M: Final = 5.0
"""What is nearer to a wire is told of; a parameter of the step too."""
SAMPLE_M: Final = 0.1
LINKED_M: Final = 2.0
"""Points of one obstacle are in cubes of this size that touch."""
OBSTACLE_POINTS_MIN: Final = 3
LEFT_OVER_M: Final = 0.8
HELD_M: Final = 1.2
"""What is so near to a wire is left of the wire, unless something farther off is so near to that."""
APART_M: Final = 5.0
"""A long obstacle is told again so far on."""
FITTING_M: Final = 5.0
"""Around the end of a wire nothing but what holds it."""
NEAREST_M: Final = 0.1
"""A point of a bundle that is so much farther off than another counts a third of it."""
TOWER_ALONG_M: Final = 4.5
TOWER_ASIDE_M: Final = 1.5
"""So near to a tower what was not taken for it is it all the same."""
CROSSING_TURN: Final = 0.2
CROSSING_M: Final = 10.0
"""Two wires cross that go so differently and come so near."""
SAME_PLACE_M: Final = 3.0
SAME_TOWER_M: Final = 6.0
SAME_WIRE_M: Final = 0.5
SAME_WIRE_M_MIN: Final = 10.0
"""Two tiles have to see the same curve on so much of its length; spans meet on less."""
