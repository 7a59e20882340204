/* What the service of Windows and whoever ends it for a setup program agree on. */
#define SERVICE L"Wingbeat"
#define LEAVE 128       /* a control code of our own: hand over, leave the flock and stop */
#define STOP_MS 90000   /* for handing back what runs */
#define LEAVE_MS 190000 /* for handing over copies and leaving, before that */
