"""Who asks this keeper to be let in, until a person has answered or time is over.

Anybody on the network can ask, so there are few requests at a time, in all and from one address,
few attempts in a while, and each ends by itself. Where others have taken all the room, whoever asks
for the first time finds some all the same: the oldest request goes of whoever has most, never one
that a person has let in. Nothing of them is kept on disk: a keeper that is
started anew is asked anew. Two numbers name a request: the secret one, known to the asking machine
alone, opens its outcome; the open one is what people and other members call it by.

A request that was let in is only a promise. The certificate is made when the machine comes for it,
which it does when a person there has compared the code too: nobody is counted as a member who has
not joined.

**The short code by which two people see that nobody stands between their machines.**

A machine that asks to join and the keeper that it asks know nothing of each other. Somebody between
them could show each a key of its own. So both work out a code from what they have seen: the key of
the keeper, the flock's authority, and the whole request with the asking machine's key. It is short,
because people compare it; so nobody may be able to choose keys until the codes fit. Therefore a
number of each side goes into it that the other cannot foresee: the keeper first binds itself to its
number by a hash, then hears the asking side's, and only then shows its own. It is the keeper that
is bound, because it shows its people the request before it shows its number: whoever stands between
learns no code of which nobody is told, and so has one guess in a million for each request seen.

The code is an agreement between two programs of one version; it is never stored.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from agent.api.admission import CODE_DIGITS, same_code
from agent.api.errors import MembershipError
from agent.net import certificates
from agent.net.certificates import Applicant, clean_name
from agent.net.invitation_book import origin_of

REQUESTS_MAX = 12
REQUESTS_PER_ORIGIN_MAX = 3
ATTEMPTS_MAX = 30
FIRST_ATTEMPTS_MAX = 90
"""In all, from where nobody has asked in this while: so that who asks over and over keeps out nobody
but itself, and each request stays long enough for a person to see it."""
ATTEMPTS_PER_ORIGIN_MAX = 6
ATTEMPTS_WINDOW_S = 300.0
VALID_S = 600.0
NUMBER_BYTES = 16
BEGUN_S = 15.0
"""Who does not show its part of the code by then is forgotten."""
OVER_REMEMBERED_MAX = 64

State = Literal["begun", "waiting", "admitted", "joined", "refused", "ended"]
OPEN: tuple[State, ...] = ("waiting", "admitted")
NONCE_BYTES = 16
COMMITMENT_BYTES = 32

_COMMITTED_AS = b"wingbeat join commitment 1\0"
_COMPARED_AS = b"wingbeat join comparison 1\0"


@dataclass(frozen=True, slots=True)
class JoinRequest:
    """One machine that asks. ``begun``: there is no code yet, and nobody is told."""

    number: bytes
    applicant: Applicant
    user: str
    address: str
    code: str
    asked_s: float
    """Seconds since 1970."""
    ends_s: float
    """By the keeper's monotonic clock."""
    state: State

    @property
    def name(self) -> str:
        """What the asking machine calls itself."""
        return self.applicant.host_name

    @property
    def request(self) -> str:
        """What people and members call the request by; says nothing of its secret number."""
        return hashlib.sha256(b"wingbeat join request " + self.number).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Bound:
    """What the code is made of, until it is: request and user as they came."""

    nonce: bytes
    sent: bytes
    user: str


class JoinRequests:
    """The requests of one keeper, in the loop."""

    def __init__(
        self,
        flock_id: str,
        keeper_key: bytes,
        changed: Callable[[JoinRequest], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._flock_id, self._keeper_key = flock_id, keeper_key
        self._changed, self._clock = changed, clock
        self._valid_s = VALID_S
        self._requests: dict[bytes, JoinRequest] = {}
        self._bound: dict[bytes, _Bound] = {}
        self._timers: dict[bytes, asyncio.TimerHandle] = {}
        self._attempts: deque[tuple[float, str]] = deque(maxlen=FIRST_ATTEMPTS_MAX)
        self._over: dict[bytes, JoinRequest] = {}
        self._coming: set[bytes] = set()
        """Their certificates are being made, which cannot be taken back."""

    # -- what people do --------------------------------------------------------------------

    def open(self) -> list[JoinRequest]:
        """Return the requests that wait for a person, and those that were let in and have not
        joined yet; oldest first."""
        return [each for each in self._requests.values() if each.state in OPEN]

    def decide(self, request: str, code: str, *, admit: bool) -> JoinRequest:
        """Admit an open request, which has ten minutes more then, or refuse it; tell whoever watches
        the list, and return it as decided. An empty ``code`` is not compared. Raise
        ``MembershipError`` when it is over, is joining already or shows another code."""
        for each in self.open():
            if each.request != request:
                continue
            if code and not same_code(each.code, code):
                raise MembershipError(f"{each.name} shows another code: look at it again")
            if each.number in self._coming:
                raise MembershipError(f"{each.name} is joining at this moment: expel it if need be")
            if not admit:
                return self._end(each, "refused")
            return self._put(self._lasting(replace(each, state="admitted"), self._valid_s))
        raise MembershipError("this request is over: let the machine ask again")

    # -- what the asking machine does ------------------------------------------------------

    def begin(self, sent: bytes, applicant: Applicant, user: str, host: str) -> tuple[bytes, bytes]:
        """Begin a request from this host, of which nobody is told yet, after ending an earlier one
        of the same machine from there; return its number and this side's commitment to its nonce.
        An empty ``user`` is not told; ``sent``: the request as it came, for the code. Where no room is
        left, another one that nobody has admitted is ended. Raise ``MembershipError`` when there are
        too many all the same; the earlier one has ended then, too."""
        origin = origin_of(host)
        self._end_earlier(applicant.node_id, origin)
        self._check_room(origin)
        number, nonce = secrets.token_bytes(NUMBER_BYTES), secrets.token_bytes(NONCE_BYTES)
        self._attempts.append((self._now(), origin))
        self._bound[number] = _Bound(nonce, sent, user)
        shown, asked_s = clean_name(user) if user else "", self._clock()
        begun = JoinRequest(number, applicant, shown, host, "", asked_s, 0.0, state="begun")
        self._put(self._lasting(begun, BEGUN_S))
        return number, commitment_of(nonce)

    def show(self, number: bytes, nonce: bytes) -> bytes:
        """Compute the code from the nonce that the asking side shows, so that people see the
        request, and return this side's nonce; raise ``MembershipError`` for a number that is
        unknown, too late or was shown before."""
        bound, request = self._bound.pop(number, None), self._requests.get(number)
        if bound is None or request is None:
            raise MembershipError("this keeper does not know the request: ask again")
        code = code_of(
            self._flock_id, self._keeper_key, bound.sent, bound.user, (nonce, bound.nonce)
        )
        self._put(self._lasting(replace(request, code=code, state="waiting"), self._valid_s))
        return bound.nonce

    def outcome(self, number: bytes) -> JoinRequest | None:
        """Return the request as it is now, also for a while when it is over; None when this keeper
        does not know it any more."""
        return self._requests.get(number) or self._over.get(number)

    @contextmanager
    def collecting(self, number: bytes) -> Iterator[JoinRequest]:
        """Yield a request that was let in while its certificate is made; it counts as joined when
        the block ends well, and may be collected again while it is valid. Raise ``MembershipError``
        unless it was let in, or when it comes too late."""
        request = self._admitted(number)
        self._coming.add(number)
        try:
            yield request
        finally:
            self._coming.discard(number)
        now = self.outcome(number) or request
        if now.state != "joined":
            self._end(now, "joined")

    def _admitted(self, number: bytes) -> JoinRequest:
        request = self.outcome(number)
        if request is None or request.state not in ("admitted", "joined"):
            raise MembershipError("nobody has let this machine in: ask again")
        if not self.left_s(request):
            raise MembershipError("this machine was let in and came too late: ask again")
        return request

    def withdraw(self, number: bytes) -> None:
        """End a request that its machine has withdrawn, also one that was let in, and tell whoever
        watches the list; an unknown one, or one that is over, is ignored."""
        request = self._requests.get(number)
        if request is not None:
            self._end(request, "ended")

    def close(self) -> None:
        """Cancel the timers of all requests, so that none ends by itself any more; nothing is
        told."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def left_s(self, request: JoinRequest) -> float:
        """Return for how many seconds the request is still valid, at least 0."""
        return max(0.0, request.ends_s - self._now())

    # -- inside ----------------------------------------------------------------------------

    def _end_earlier(self, node_id: str, origin: str) -> None:
        """A machine asks once at a time. Not when it asks from elsewhere: whoever it has asked has
        its signed request, and could end what it asks others by sending them that."""
        for earlier in list(self._requests.values()):
            same_origin = origin_of(earlier.address) == origin
            if earlier.applicant.node_id == node_id and same_origin:
                self._end(earlier, "ended")

    def _check_room(self, origin: str) -> None:
        recent = [each for at_s, each in self._attempts if self._now() - at_s < ATTEMPTS_WINDOW_S]
        waiting = Counter(origin_of(each.address) for each in self._requests.values())
        if waiting[origin] >= REQUESTS_PER_ORIGIN_MAX:
            raise MembershipError("too many requests from this address wait: have one answered")
        if recent.count(origin) >= ATTEMPTS_PER_ORIGIN_MAX:
            raise MembershipError("this address asked too often: try again in some minutes")
        if len(recent) >= (ATTEMPTS_MAX if origin in recent else FIRST_ATTEMPTS_MAX):
            raise MembershipError("too many machines ask to join: try again in some minutes")
        if len(self._requests) >= REQUESTS_MAX:
            self._make_room(waiting)

    def _make_room(self, waiting: Counter[str]) -> None:
        """The oldest goes, of the origin with most, that no person has let in."""
        undecided = [each for each in self._requests.values() if each.state != "admitted"]
        if not undecided:
            raise MembershipError("too many machines ask to join: try again in some minutes")
        self._end(max(undecided, key=lambda each: waiting[origin_of(each.address)]), "ended")

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _lasting(self, request: JoinRequest, valid_s: float) -> JoinRequest:
        """It has this much time from now on."""
        self._cancel_timer(request.number)
        loop = asyncio.get_running_loop()
        self._timers[request.number] = loop.call_later(valid_s, self._too_late, request.number)
        return replace(request, ends_s=loop.time() + valid_s)

    def _cancel_timer(self, number: bytes) -> None:
        timer = self._timers.pop(number, None)
        if timer is not None:
            timer.cancel()

    def _too_late(self, number: bytes) -> None:
        request = self._requests.get(number)
        if request is not None:
            self._end(request, "ended")

    def _put(self, request: JoinRequest) -> JoinRequest:
        self._requests[request.number] = request
        if request.state != "begun":
            self._changed(request)
        return request

    def _end(self, request: JoinRequest, state: State) -> JoinRequest:
        self._cancel_timer(request.number)
        self._requests.pop(request.number, None)
        self._bound.pop(request.number, None)
        ended = replace(request, state=state)
        self._over[request.number] = ended
        while len(self._over) > OVER_REMEMBERED_MAX:
            del self._over[next(iter(self._over))]
        if request.state != "begun":
            self._changed(ended)
        return ended


def keeper_key_of(certificate: bytes) -> bytes:
    """Return what stands for a keeper in the code: the hash of its key, which a renewed certificate
    keeps."""
    return certificates.key_hash_of(certificate)


def commitment_of(nonce: bytes) -> bytes:
    """Return the hash that binds the keeper to its nonce without telling it."""
    return hashlib.sha256(_COMMITTED_AS + nonce).digest()


def code_of(
    flock_id: str, keeper: bytes, request: bytes, user: str, nonces: tuple[bytes, bytes]
) -> str:
    """Return the code, six digits such as "418 230", that two people compare for a request to a
    keeper with this key hash. ``nonces``: the asking side's, then the keeper's."""
    seen = msgspec.msgpack.encode((flock_id, keeper, request, user, nonces))
    number = int.from_bytes(hashlib.sha256(_COMPARED_AS + seen).digest()[:16], "big")
    digits = f"{number % 10**CODE_DIGITS:0{CODE_DIGITS}d}"
    return f"{digits[: CODE_DIGITS // 2]} {digits[CODE_DIGITS // 2 :]}"
