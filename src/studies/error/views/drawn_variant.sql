-- Variants with the number of their colour (look.sql), for figures.
-- needs: variant look
CREATE TEMP VIEW drawn_variant AS
SELECT v.*, look.look FROM variant AS v JOIN look_way AS look ON look.strategy = v.strategy AND look.factors = v.factors
    AND CASE WHEN v.pairing IS NULL THEN look.leads ELSE look.pairing = v.pairing END;
