"""Computes the payments of recurring charges by walking through the days one after the other.

Shares no code with the sandbox: it is written from the reference alone (gateway-api, recur object and Limits;
service-facts, part 7). Standard input has one JSON object a line, a recurring charge as in the request that makes it. The
arguments are the day on which all were made and the last day of the walk. Standard output has one line for each charge,
in order: its status, the collected payments, and the payment that waits.
"""

import calendar
import datetime
import json
import sys

ONE_DAY = datetime.timedelta(days=1)


def day_of(text):
    return datetime.date.fromisoformat(text)


def fits(schedule, day):
    """Returns whether a payment is due on a day."""
    start = day_of(schedule["start"])
    end = schedule.get("end")
    if day < start or (end and day > day_of(end)):
        return False
    unit, delay = schedule["interval_unit"], int(schedule["interval_delay"])
    days = schedule.get("days")
    since = (day - start).days
    if unit == "DAY":
        return since % delay == 0
    if unit == "WEEK":
        if days:
            return str(day.isoweekday()) in days
        return since % (7 * delay) == 0
    longest = calendar.monthrange(day.year, day.month)[1]
    if days:
        # For a day that a month does not have, the service takes its last day.
        wanted = [longest if one == "LAST" else min(int(one), longest) for one in days]
        return day.day in wanted
    months = (day.year - start.year) * 12 + day.month - start.month
    return months % delay == 0 and day.day == min(start.day, longest)


def collected(charge, made, until):
    """Walks through the days from the day on which the charge was made."""
    amount, most = charge["amount"], charge.get("max_amount")
    times = charge.get("max_occurrences")
    declines = charge.get("declines", False)
    tried, total, paid, waits = 0, 0, [], None
    day = made
    horizon = until + datetime.timedelta(days=400)
    while day <= horizon:
        rest = amount if most is None else min(amount, most - total)
        if (times is not None and tried >= times) or rest <= 0:
            break
        if fits(charge["schedule"], day):
            if day > until:
                waits = [day.isoformat(), rest]
                break
            tried += 1
            if not declines:
                total += rest
                paid.append([day.isoformat(), rest])
        day += ONE_DAY
    return {
        "status": "ACTIVE" if waits else "COMPLETED",
        "collected": len(paid),
        "total": total,
        "paid": paid,
        "waits": waits,
    }


def main():
    made, until = day_of(sys.argv[1]), day_of(sys.argv[2])
    for line in sys.stdin:
        json.dump(collected(json.loads(line), made, until), sys.stdout, separators=(",", ":"))
        sys.stdout.write("\n")


if __name__ == "__main__":
    main()
