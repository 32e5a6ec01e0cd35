"""Honest pages of the kinds that people and programs publish, written for this project. Many sail close to the wind:
sign-in forms that go nowhere, checkouts, wallets, articles about fraud."""

import honest_forms
import honest_money
import honest_reading
import honest_screens
import leading
import neighbours
import twins


def pages():
    made = []
    for part in (honest_reading, honest_screens, honest_forms, honest_money):
        made.extend(part.pages())
    made.extend(neighbours.honest())
    made.extend(leading.honest())
    made.extend(twins.honest())
    return made
